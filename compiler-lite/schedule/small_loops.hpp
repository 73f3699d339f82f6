// Loops over tensors that compute little in each turn become groups: one kernel of one workgroup, turns and all
// (small_loop_rules.hpp says which).
//
// Blocks of threads divide a loop whose turns keep items of a batch apart (division.hpp): each does all turns of its part.
//
// The group takes what the loop begins with and what it reads from outside; what the loop carries it writes in place.
// A loop of very many turns, or of a number that is not known, does some thousands of them and says whether it goes on: the
// host calls it again until it doesn't, so that a deadline ends a loop that never would.
#pragma once

#include "compiler-lite/schedule/on_cores.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// `has_room` says of a group whether there is code for it that has room for what a turn computes.
using RoomTest = llvm::function_ref<bool(mlir::func::FuncOp group)>;
mlir::LogicalResult outline_small_loops(mlir::ModuleOp module, Workgroups workgroups, RoomTest has_room);

}  // namespace baton::compiler_lite::schedule
