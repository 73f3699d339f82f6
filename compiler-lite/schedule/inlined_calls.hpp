// inlined_calls: functions on tensors become one program, so that work of caller and callee shares recordings, memory and kernels.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// Replaces calls on tensors of functions with a body by their bodies, and erases private functions that nothing calls any more.
// Calls stay of functions that call themselves, by way of others too; of those with several blocks, inside of loops and
// conditions; of those marked `noinline`; and of large ones in programs that would grow without bounds.
mlir::LogicalResult inline_calls(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::schedule
