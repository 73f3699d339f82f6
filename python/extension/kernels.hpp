// KernelLibrary and Kernel: kernels that Python brings and launches itself (modules/sdk/kernel_library.h).
//
// A kernel works in place: arrays are taken where they lie, and what would have to be copied is refused. Numbers become
// what the kernel's own code declares. On a device's queue a launch is through when it returns, unless it is told not
// to wait; on a stream it is in order with the stream's work and with the tensors of Baton that it is given.
// Threads: with Python's lock.
#pragma once

#include <nanobind/nanobind.h>

namespace baton::python {

namespace nb = nanobind;

void bind_kernels(nb::module_& module);

}  // namespace baton::python
