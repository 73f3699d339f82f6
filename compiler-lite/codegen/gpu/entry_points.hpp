// lower_entry_points: kernels become functions that a driver launches, and what they ask their dispatch for becomes
// parameters and special registers.
//
//   func.func @add() { %b = hal.interface.binding.subspan binding(0) ... }
//
// becomes add(binding 0, ..., constant 0, ...): a pointer for each binding, then a word for each constant.
#pragma once

#include <vector>

#include "compiler-lite/codegen/variant.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen::gpu {

// Its local memory is shared memory that is asked for at launch.
struct EntryPoint : codegen::EntryPoint {
  unsigned blocks_wanted = 0;   // On a multiprocessor; 0: as many as come.
  unsigned cluster_blocks = 0;  // Along x; 0: each is on its own.
};

// In the order of the module. Diagnostics for calls that can't be made.
mlir::FailureOr<std::vector<EntryPoint>> lower_entry_points(mlir::ModuleOp kernels);

}  // namespace baton::compiler_lite::codegen::gpu
