// write_transfers: a transfer wherever a tensor is wanted on another device than it is on. Beyond it nothing needs to be
// known of affinities: whatever is done with a tensor is done where it is.
#pragma once

#include "compiler-lite/placement/placement.hpp"

namespace baton::compiler_lite::placement {

// In all functions and initializers. Functions that are called with tensors of different devices get a copy for each.
mlir::LogicalResult write_transfers(mlir::ModuleOp module, PlacedProgram& program, llvm::ArrayRef<NamedDevice> devices);

}  // namespace baton::compiler_lite::placement
