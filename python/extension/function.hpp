// Function: an export of a program, as Python calls it.
#pragma once

#include <atomic>

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
  bool consumes = false;                       // One of the arguments at least.
  mutable std::atomic<bool> was_brief{false};  // Its last call.

  Function() = default;
  Function(Function&& other) noexcept
      : callables(std::move(other.callables)),
        loaded(std::move(other.loaded)),
        function(other.function),
        name(std::move(other.name)),
        declaration(std::move(other.declaration)),
        arguments(std::move(other.arguments)),
        results(std::move(other.results)),
        takes_fences(other.takes_fences),
        consumes(other.consumes) {}
  ~Function() { release_program(std::move(loaded)); }
};

Function find_function(const Program& program, const char* name);
void bind_functions(nb::module_& module);

}  // namespace baton::python
