// What executables are made for, by the names of the command line.
#pragma once

#include <vector>

#include "compiler-lite/codegen/target.hpp"
#include "compiler-lite/compile.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite {

// The targets that --target-device and --target-backends name; none when they name none, and the program's own
// attribute or this machine decides. Diagnostics name what there is.
mlir::LogicalResult choose_targets(mlir::ModuleOp module, const CompileOptions& options,
                                   std::vector<hal::ExecutableTargetAttr>& targets);

}  // namespace baton::compiler_lite
