// Tensors between the host and a device: tensor → buffer view, buffer view → tensor, and those that a call takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hal/buffer_view.hpp"
#include "hal/device.hpp"
#include "tools/support/tensor_files.hpp"
#include "tools/support/tensor_text.hpp"
#include "vm/object.hpp"

namespace baton::tools {

// On a device that works in host memory the buffer is the tensor's own memory.
Result<Ref<hal::BufferView>> upload(hal::Device& device, const Tensor& tensor);
// On such a device the tensor's bytes are the buffer's. `devices` are those of which one made the buffer; the work that
// writes it must be done.
Result<Tensor> download(std::span<const Ref<hal::Device>> devices, const hal::BufferView& view);

// What a call takes and gives.
// Threads: externally synchronized.
class TensorValues {
 public:
  // Inputs go to the first of them. `most` elements of a tensor are printed.
  explicit TensorValues(std::vector<Ref<hal::Device>> devices, uint64_t most = kPrintedElements)
      : devices_(std::move(devices)), most_(most) {}
  ~TensorValues();
  TensorValues(const TensorValues&) = delete;
  TensorValues& operator=(const TensorValues&) = delete;

  // As tensor_files.hpp spells them. The reference belongs to this object. Fails without a device.
  Result<vm::Object*> input(std::string_view text);
  // Only the memory of one, for functions that take a hal.buffer: "&4xf32=1", or without the mark.
  Result<vm::Object*> storage(std::string_view text);
  TensorFiles& files() { return files_; }
  // An object that was made for the call, given up to this one.
  vm::Object* keep(vm::Object* object);

  // Nothing when `object` is no hal.buffer_view.
  Result<std::optional<Tensor>> read(vm::Object* object) const;
  // "hal.buffer_view\n2x2xf32=[1 2][3 4]" when `object` is one; empty text when it is something else.
  Result<std::string> describe(vm::Object* object) const;

  std::span<const Ref<hal::Device>> devices() const { return devices_; }

 private:
  Result<Ref<hal::BufferView>> make_input(std::string_view text);

  std::vector<Ref<hal::Device>> devices_;
  uint64_t most_;
  TensorFiles files_;
  std::vector<vm::Object*> inputs_;
};

}  // namespace baton::tools
