// Function: an export of a program, as Python calls it.
#pragma once

#include "python/extension/program.hpp"

namespace baton::python {

struct Function {
  nb::object callables;
  Ref<LoadedProgram> loaded;
  vm::ExportedFunction function;
  std::string name;
  std::string declaration;  // For people: abi.declaration, or the signature.
  std::vector<Parameter> arguments;
  std::vector<Parameter> results;
  bool takes_fences = false;
  bool consumes = false;  // One of the arguments at least.

  Function() = default;
  Function(Function&&) noexcept = default;
  ~Function() { release_program(std::move(loaded)); }
};

Function find_function(const Program& program, const char* name);
void bind_functions(nb::module_& module);

}  // namespace baton::python
