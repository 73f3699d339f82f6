// on_cores: functions that say which other one computes the same where all workgroups are calls that cores make.
//
// What goes element after element, as a running sum, takes a core one pass, and a GPU, which has thousands of threads, one
// for each round of joining runs of twice the length. A frontend doesn't know for whom it writes, so it writes both:
//
//   func.func private @rounds(...) attributes {baton.on_cores = @one_pass}
//
// With `baton.one_kernel` the other function is a kernel as it stands, loops over elements and all, for one core; it sees to
// it that it indexes nothing outside, as a flow.dispatch.region does.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// Calls call what fits, and functions that nobody calls any more are gone; afterwards no function says anything.
mlir::LogicalResult choose_functions(mlir::ModuleOp module, bool on_cores);

}  // namespace baton::compiler_lite::schedule
