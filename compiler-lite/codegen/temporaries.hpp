// place_temporaries: memory that a kernel allocates for itself. There is no heap: small things of known size go on the
// stack (where a workgroup is one thread), the others into the memory that the runtime gives each workgroup.
//
// Local memory is a global named kLocalMemory until the target knows the pointer; a kernel says in an attribute
// kLocalMemoryBytes how much it takes. A size that is only known at run time must have a bound.
#pragma once

#include <cstdint>

#include "llvm/ADT/StringRef.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen {

inline constexpr llvm::StringLiteral kLocalMemory = "baton.local_memory";
inline constexpr llvm::StringLiteral kLocalMemoryBytes = "baton.local_memory_bytes";

struct TemporaryLimits {
  uint64_t local_bytes;  // Of a workgroup.
  uint64_t stack_bytes;  // Of one temporary on the stack.
};

// Bytes that the temporaries of a kernel, or of other code, take so far; what has no bound is left out.
uint64_t temporary_bytes(mlir::Operation* code);
// What a finished kernel takes: temporaries between whose uses all threads meet share a place.
uint64_t placed_bytes(mlir::func::FuncOp kernel);

mlir::LogicalResult place_temporaries(mlir::ModuleOp kernels, const TemporaryLimits& limits);

}  // namespace baton::compiler_lite::codegen
