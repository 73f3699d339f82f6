// Custom commands: functions of other modules that record into the command buffer (INPUT.md 4). Both spellings become
// one: `util.func` imports with iree.abi.streamable and their calls become flow.func and flow.call, whose sizes are
// known.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// Before functions are inlined and before the ABI looks at imports: these never take buffer views.
mlir::LogicalResult convert_streamable_imports(mlir::ModuleOp module);

// When no flow.call is left: flow.func as the import that records.
// What a streamable function imports: its name up to a $. Several symbols may be types of one import.
llvm::StringRef imported_name(llvm::StringRef symbol);
mlir::LogicalResult declare_custom_commands(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::schedule
