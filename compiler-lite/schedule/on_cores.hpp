// on_cores: functions that say which other one computes the same where all workgroups are calls that cores make, and which
// one where all are blocks of threads, or such blocks that have atomic operations.
//
// What goes element after element, as a running sum, takes a core one pass, and a GPU, which has thousands of threads, one
// for each round of joining runs of twice the length. What data scatter, these threads write at once (codegen/scatter.hpp).
// A frontend doesn't know for whom it writes, so it writes all:
//
//   func.func private @rounds(...) attributes {baton.on_cores = @one_pass, baton.on_blocks = @side_by_side, baton.with_atomics = @at_once}
//
// With `baton.one_kernel` the other function, or one that it calls, is a kernel as it stands, loops over elements and all, for
// one core; it sees to it that it indexes nothing outside, as a flow.dispatch.region does. Where its outermost loop has
// `baton.workgroups = 8`, that many workgroups do a range of the turns each, at once: turns write different elements of the
// results that the loop carries, or the same values, and read none of them. Such a loop counts from 0 to a constant.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// kWithAtomics: blocks of threads that have them.
enum class Workgroups { kAny, kOnCores, kOnBlocks, kWithAtomics };

// Calls call the form that fits; forms that are not called any more are gone, and no function says any more what it is for.
mlir::LogicalResult choose_functions(mlir::ModuleOp module, Workgroups workgroups);

}  // namespace baton::compiler_lite::schedule
