// Match and replace: runs the user's specs over a program, after input conversion and before anything is fused or
// scheduled. Order: the pass pipeline, then the transform spec, then the PDL spec.
#pragma once

#include <string>

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::specs {

struct SpecOptions {
  std::string pass_pipeline;   // --preprocessing-pass-pipeline: textual, rooted at builtin.module or a list of passes
  std::string transform_file;  // --preprocessing-transform-spec-filename
  std::string pdl_file;        // --preprocessing-pdl-spec-filename
  bool verbose = false;        // --verbose-specs: a remark for each candidate that a pattern looked at

  bool any() const { return !pass_pipeline.empty() || !transform_file.empty() || !pdl_file.empty(); }
};

// What specs are written in, and what the program gets from them. Before the context is made.
void register_spec_dialects(mlir::DialectRegistry& registry);

// Errors, warnings and remarks go to the diagnostics of the program's context and point at the spec or the program.
mlir::LogicalResult apply_specs(mlir::ModuleOp program, const SpecOptions& options);

}  // namespace baton::compiler_lite::specs
