// ExecutableRow: what a program holds of its module's table of executables (the instruction `executable`): which row,
// of which module. A native module that knows devices reads the row and loads the code; the VM only hands it on.
//
// It keeps the module's bytes alive, so device code may be used in place.
// Threads: immutable.
#pragma once

#include "bytecode/executable_view.hpp"
#include "vm/object.hpp"

namespace baton::vm {

struct ExecutableRow : Object {
  static const ObjectType kType;  // "executable"

  // Inside a larger allocation, which release_memory gives back (bytecode_module.cpp).
  ExecutableRow(const bytecode::ModuleView& of_module, uint32_t row_index, void (*give_back)(void*), void* data)
      : Object(&kType), module(of_module), index(row_index), release_memory(give_back), release_data(data) {}

  bytecode::ExecutableView view() const { return module.executable(index); }

  bytecode::ModuleView module;
  uint32_t index;
  void (*release_memory)(void*);
  void* release_data;
};

}  // namespace baton::vm
