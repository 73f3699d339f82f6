// Loops of a few turns that go element by element become what their turns compute, one after the other.
//
// A turn's operations fuse into one kernel, but what a loop carries goes through memory in each turn. Written out, all turns
// are one kernel whose elements stay in registers: random numbers (Threefry's five turns), a few steps of Newton, a
// polynomial by a loop.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

mlir::LogicalResult write_out_brief_loops(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::schedule
