// KernelArguments: what a kernel is launched with, from values of Python.
//
//   int                       as many bytes as the parameter has; 4 where the code does not say (on the CPU, in SPIR-V)
//   float                     f32 or f64, by the parameter's bytes; f32 where the code does not say
//   NumPy's scalars, ctypes   what they say themselves
//   bytes                     a struct
//   None                      a null pointer
//   Binding, Tensor, arrays   memory, in place; an int for 8 bytes is an address
//
// Threads: with Python's lock.
#pragma once

#include <deque>
#include <optional>

#include "modules/sdk/kernel_library.h"
#include "python/extension/command_buffer.hpp"
#include "python/extension/dlpack_exchange.hpp"

namespace baton::python {

// Where a launch goes: the queue of a device, a stream of CUDA's, or a command buffer.
struct LaunchPlace {
  const Ref<OpenDevice>* device = nullptr;
  std::optional<uint64_t> stream = {};
};

class KernelArguments {
 public:
  // Of parameters that the code declares; else empty.
  explicit KernelArguments(std::span<const uint64_t> sizes) : sizes_(sizes) {}

  void add(PyObject* value, const LaunchPlace& place);

  std::span<const baton_kernel_argument> all() const { return all_; }
  // What tensors that are not there yet are waited for by.
  std::span<const hal::Fence* const> waits() const { return waits_; }
  // Devices whose tensors a stream works on.
  std::span<const Ref<OpenDevice>> devices() const { return devices_; }
  int32_t ordinal() const { return ordinal_; }  // Of CUDA's device that arrays lie on; -1: none does.

 private:
  void add_bytes(const void* data, size_t count);
  void add_integer(PyObject* value);
  void add_float(PyObject* value);
  void add_range(const baton_binding& range);
  void add_view(const hal::BufferView& view);
  void add_tensor(const Tensor& tensor, const LaunchPlace& place);
  void add_array(PyObject* value, const LaunchPlace& place);
  void add_handed(PyObject* value);
  // Of the argument that comes next; 0: the code does not say.
  uint64_t declared_size() const { return all_.size() < sizes_.size() ? sizes_[all_.size()] : 0; }

  std::span<const uint64_t> sizes_;
  std::vector<baton_kernel_argument> all_;
  std::deque<std::string> bytes_;  // None of these move.
  std::deque<baton_binding> ranges_;
  std::vector<OwnedObject> buffers_;
  std::vector<Handed> handed_;
  std::vector<const hal::Fence*> waits_;
  std::vector<Ref<OpenDevice>> devices_;
  int32_t ordinal_ = -1;
};

}  // namespace baton::python
