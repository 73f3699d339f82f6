// A row of the module's table of executables (bytecode/executable_row.hpp) in MLIR: `vm.executable` holds it between
// the phase that compiles device code and the one that writes the file.
#pragma once

#include <string>
#include <vector>

#include "bytecode/executable_row.hpp"
#include "compiler-lite/dialects/vm/dialect.hpp"
#include "mlir/IR/Builders.h"

namespace baton::compiler_lite::vm {

// The row, with what its variants number only in a file: their code and the functions that are their conditions.
struct ExecutableContents {
  struct Variant {
    std::vector<char> code;
    std::string condition;  // Of a function of the program; empty: always.
  };
  bytecode::ExecutableRow row;
  std::vector<Variant> variants;  // As many as the row's.
};

void write_executable(mlir::OpBuilder& builder, mlir::Location location, const ExecutableContents& contents);

ExecutableContents read_executable(ExecutableOp op);

// An attribute of the module: {"executable.entry_point" = "2*w0"}, what a dispatch does (codegen/work.hpp). In the file it is
// the module's attributes "flops.executable.entry_point".
inline constexpr llvm::StringLiteral kFlops = "vm.flops";

}  // namespace baton::compiler_lite::vm
