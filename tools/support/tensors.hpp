// Tensors between a command line and a device: --input= text or file → buffer view, buffer view → text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hal/buffer_view.hpp"
#include "hal/device.hpp"
#include "tools/support/tensor_text.hpp"
#include "vm/object.hpp"

namespace baton::tools {

// "2x2xf32=1 2 3 4", "4xf32=@file.bin" (raw bytes), "@file.npy", "@file.npz:name".
Result<Tensor> load_tensor(std::string_view input);

Result<Ref<hal::BufferView>> upload(hal::Device& device, const Tensor& tensor);
// The dense bytes. `devices` are those of which one made the buffer; the work that writes it must be done.
Result<std::vector<std::byte>> download(std::span<const Ref<hal::Device>> devices, const hal::BufferView& view);

// What a call takes and gives. Threads: externally synchronized.
class TensorValues {
 public:
  // Inputs go to the first of them. `most` elements of a tensor are printed.
  explicit TensorValues(std::vector<Ref<hal::Device>> devices, uint64_t most = kPrintedElements)
      : devices_(std::move(devices)), most_(most) {}
  ~TensorValues();
  TensorValues(const TensorValues&) = delete;
  TensorValues& operator=(const TensorValues&) = delete;

  // The reference belongs to this object. Fails without a device.
  Result<vm::Object*> input(std::string_view text);
  // "hal.buffer_view\n2x2xf32=[1 2][3 4]" when `object` is one; empty text when it is something else.
  Result<std::string> describe(vm::Object* object) const;

  std::span<const Ref<hal::Device>> devices() const { return devices_; }

 private:
  std::vector<Ref<hal::Device>> devices_;
  uint64_t most_;
  std::vector<vm::Object*> inputs_;
};

}  // namespace baton::tools
