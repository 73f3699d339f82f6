// Loops whose condition hands on what they carry, each in its place.
//
// Frontends leave out what the condition alone reads, and hand on what it computed. A pass that makes the turns elsewhere
// (small_loops.hpp) wants one list of tensors that a turn begins and ends with, so that such a loop becomes one that hands
// all on; what the condition computed is computed again behind it, numbers alone.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::schedule {

bool hands_all_on(mlir::scf::WhileOp loop);

// Of all loops inside of `root`. One whose condition computes tensors stays as it is.
void hand_all_on(mlir::Operation* root);

}  // namespace baton::compiler_lite::schedule
