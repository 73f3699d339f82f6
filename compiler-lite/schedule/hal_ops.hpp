// Operations of `hal` and `check` that have no tensors, as calls of the modules: fences, queries, sizes of views,
// expectations on scalars.
#pragma once

#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/schedule/scheduled_function.hpp"

namespace baton::compiler_lite::schedule {

// False for what is no such operation; else its users have the call's result, and the caller erases it.
bool write_hal_op(ScheduledFunction& function, mlir::Operation* op);

// Whether the device knows, and what it answers.
llvm::SmallVector<mlir::Value> write_query(ScheduledFunction& function, hal::DeviceQueryOp op);

}  // namespace baton::compiler_lite::schedule
