// Loops over tensors that compute little in each turn become groups: one kernel of one workgroup, turns and all
// (small_loop_rules.hpp says which).
//
// The group takes what the loop begins with and what it reads from outside; what the loop carries it writes in place.
// A loop of very many turns, or of nobody knows how many, does some thousands of them and says whether it goes on: the
// host calls it again until it doesn't, so that a deadline ends a loop that never would.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// For targets whose workgroups are cores.
mlir::LogicalResult outline_small_loops(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::schedule
