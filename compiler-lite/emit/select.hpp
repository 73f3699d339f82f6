// From the operations of one function to instructions on virtual registers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bytecode/module_builder.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/emit/machine.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::emit {

// What functions of a module share while they are selected.
struct ModuleTables {
  struct Callee {
    uint32_t index = 0;
    bool is_import = false;
    bool is_boundary = false;         // Narrow integers arrive sign-extended.
    mlir::FunctionType machine_type;  // As the machine sees it: vm.signature, or the declaration.
    std::vector<bool> repeated = {};  // For each argument; empty when none is.
    bool has_signature = false;       // vm.signature: an i64 of the program may be an i32 there, or the other way.
  };

  bytecode::ModuleBuilder& builder;
  std::map<std::string, Callee, std::less<>> callees;
  std::map<std::string, uint32_t, std::less<>> globals;
  std::map<std::string, uint32_t, std::less<>> executables = {};
  std::vector<std::string> files = {""};
  std::map<std::string, uint32_t, std::less<>> file_indices = {};

  Location location_of(mlir::Location location);
  uint32_t rodata(std::string_view name, llvm::ArrayRef<char> bytes);
};

mlir::FailureOr<Function> select_function(mlir::Region& body, bool is_boundary, ModuleTables& tables);

}  // namespace baton::compiler_lite::emit
