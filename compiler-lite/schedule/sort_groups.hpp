// Functions that sort rows (codegen/sort.hpp), for targets whose workgroups are all blocks of threads.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// A function with the attribute `baton.sorts_rows` gives its argument, rows of integers with a sign, in ascending order. Where
// workgroups are blocks, `on_blocks`, it becomes dispatches that do so, one after the other in one place; else, and where they
// take no such rows, it stays what it is.
void outline_sorts(mlir::ModuleOp module, bool on_blocks);

}  // namespace baton::compiler_lite::schedule
