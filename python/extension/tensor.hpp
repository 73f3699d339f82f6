// Tensor: what programs give, and may be given again. It shares the memory of the device; other frameworks take it in
// place, by DLPack or, where the host reaches the memory, by Python's buffer protocol.
//
// A function that takes fences gives tensors that are not there yet: whoever reads one waits, and a consumer with a
// stream is put behind the work instead.
// Threads: as Python's lock says.
#pragma once

#include "hal/buffer_view.hpp"
#include "hal/fence.hpp"
#include "modules/hal_module/objects.hpp"
#include "python/extension/devices.hpp"

namespace baton::python {

struct Tensor {
  Ref<hal::BufferView> view;
  Ref<OpenDevice> open;
  Ref<hal::Fence> ready;  // Null: the elements are there.
  // The view as programs hold it: what one gave goes to the next as it is. Null until it is asked for.
  sdk::Ref<modules::Handle<hal::BufferView>> handle;
  // The view is this tensor's and of those whom it was handed out to, and of nobody else.
  bool is_loan = false;

  ~Tensor();
  hal::Device& device() const { return open->device(); }
  // Also where there are no elements, and no address.
  bool host_reaches() const;
  // Until the elements are there. Needs the lock, and gives it up meanwhile.
  void wait() const;
  // Before a program writes in it: it may only be read, or is lent to somebody who still has it.
  bool must_be_copied() const;
};

// Of what says __index__, with the name of what is wanted in the error.
int64_t to_integer(PyObject* value, int64_t least, int64_t most, std::string_view name);

nb::object make_tensor(Ref<hal::BufferView> view, Ref<OpenDevice> open, Ref<hal::Fence> ready = nullptr,
                       sdk::Ref<modules::Handle<hal::BufferView>> handle = nullptr);
// Null when `object` is another thing.
Tensor* tensor_in(PyObject* object);

void bind_tensors(nb::module_& module);

}  // namespace baton::python
