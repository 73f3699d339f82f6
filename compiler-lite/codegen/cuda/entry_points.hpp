// lower_entry_points: kernels become functions that a driver launches, and what they ask their dispatch for becomes
// parameters and special registers.
//
//   func.func @add() { %b = hal.interface.binding.subspan binding(0) ... }
//
// becomes add(binding 0, ..., constant 0, ...): a pointer for each binding, then a word for each constant.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen::cuda {

struct EntryPoint {
  std::string name;
  unsigned constant_count = 0;
  unsigned binding_count = 0;
  unsigned workgroup_size[3] = {1, 1, 1};
  unsigned local_memory_bytes = 0;  // Shared memory that is asked for at launch.
  unsigned blocks_wanted = 0;       // On a multiprocessor; 0: as many as come.
};

// In the order of the module. Diagnostics for calls that can't be made.
mlir::FailureOr<std::vector<EntryPoint>> lower_entry_points(mlir::ModuleOp kernels);
// Once the functions are in the llvm dialect: they are launched, not called.
void mark_kernels(mlir::ModuleOp kernels, llvm::ArrayRef<EntryPoint> entries);

}  // namespace baton::compiler_lite::codegen::cuda
