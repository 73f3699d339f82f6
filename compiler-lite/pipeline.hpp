// The list of passes; reading run_pipeline from top to bottom is reading the compiler.
#pragma once

#include "compiler-lite/compile.hpp"
#include "compiler-lite/specs/apply_specs.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite {

// What the options say of specs.
specs::SpecOptions spec_options(const CompileOptions& options);

// Takes a parsed program to the phase that the options name. After "end" it is ready for emit_module. `schedule`
// becomes the text that options.dump_schedule asks for,
// `explanation` the one that options.explain does.
mlir::LogicalResult run_pipeline(mlir::ModuleOp module, const CompileOptions& options, std::string& schedule,
                                 std::string& explanation);

}  // namespace baton::compiler_lite
