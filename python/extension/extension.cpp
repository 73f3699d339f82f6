// The extension module baton._baton: the runtime with devices, for the package baton (python/baton), which is what
// people import.
#include <typeinfo>

#include "modules/sdk/version.h"
#include "python/extension/command_buffer.hpp"
#include "python/extension/executables.hpp"
#include "python/extension/function.hpp"
#include "python/extension/kernels.hpp"
#include "python/extension/trace.hpp"

// Python calls PyInit__baton below, which refuses first: nanobind forgets the types of the main interpreter as soon as it
// begins in another one.
#define PyInit__baton begin_baton
NB_MODULE(_baton, module) {
  using namespace baton::python;
  // What is left of Python's wrong types: a cast that nobody put in words.
  nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
    try {
      std::rethrow_exception(raised);
    } catch (const std::bad_cast&) {
      PyErr_SetString(PyExc_TypeError, "an argument, or a part of one, is of a type that is not taken here");
    }
  });
  nb::set_leak_warnings(false);  // Types and images of kernels are kept for good, and who ends early keeps more.
  module.attr("version") = BATON_VERSION;
  bind_tensors(module);
  bind_values(module);
  bind_executables(module);
  bind_devices(module);
  bind_functions(module);
  bind_programs(module);
  bind_command_buffers(module);
  bind_kernels(module);  // Gives CommandBuffer its kernels.
  bind_traces(module);
}
#undef PyInit__baton

extern "C" NB_EXPORT PyObject* PyInit__baton() {
  // Devices call from threads of their own, and those belong to the first interpreter.
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return begin_baton();
  PyErr_SetString(PyExc_ImportError,
                  "baton can't be used in a subinterpreter; import it in the main one, or start a process");
  return nullptr;
}
