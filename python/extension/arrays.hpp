// Arrays of other frameworks as tensors of a device: NumPy's, everything with Python's buffer protocol or DLPack,
// Python's numbers and lists.
//
// On a device that works in host memory, dense arrays of the host are used where they are; a device with its own memory
// gets copies of them. An array that is not dense and row-major is copied, and the copy may only be read: what a
// program wrote would be lost. A read-only array gives a buffer that no command may write. Where the program consumes
// its argument (abi.consumes) it may write in all of these: in a copy, where the array itself is not to be written.
#pragma once

#include <string_view>

#include "hal/uploads.hpp"
#include "python/extension/tensor.hpp"

namespace baton::python {

// Where arrays go. With `uploads`, which are the device's, what is copied there is one of them; else it is waited for.
struct Destination {
  OpenDevice& open;
  hal::Uploads* uploads = nullptr;
  // The program may write it: memory that nobody may write is copied, and so may the copy of an array be written.
  bool is_consumed = false;
};

// `declared`: the element type that the function says it takes, for numbers and lists; may be empty. Throws what Python
// raises. Needs the lock.
Ref<hal::BufferView> view_of(PyObject* value, const Destination& to, std::string_view declared);
// The same for what must not be copied: an array that would have to be is a TypeError.
Ref<hal::BufferView> view_in_place(PyObject* value, OpenDevice& open);

}  // namespace baton::python
