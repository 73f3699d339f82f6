// Types whose objects Baton alone makes. Python would give out one without contents by `T.__new__(T)`, and so would
// copy.copy() and pickle: what takes such an object would read memory that nobody filled.
#pragma once

#include <nanobind/nanobind.h>

namespace baton::python {

inline PyObject* refuse_to_make(PyTypeObject* type, PyObject*, PyObject*) noexcept {
  PyErr_Format(PyExc_TypeError,
               "%R cannot be made or copied from Python: programs, devices and commands give its objects", type);
  return nullptr;
}

// A row of a type's slots, and slots of a type that needs no other.
inline const PyType_Slot kNoConstructor = {Py_tp_new, reinterpret_cast<void*>(refuse_to_make)};
inline const PyType_Slot kNoConstructorAlone[] = {kNoConstructor, {0, nullptr}};

}  // namespace baton::python
