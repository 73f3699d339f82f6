// Specs as passes, for baton-opt and for pipelines written as text.
#pragma once

#include <memory>

#include "compiler-lite/specs/apply_specs.hpp"

namespace mlir {
class Pass;
}

namespace baton::compiler_lite::specs {

std::unique_ptr<mlir::Pass> make_apply_specs_pass(SpecOptions options);

// `baton-apply-specs{transform=F pdl=F verbose}` and `iree-preprocessing-apply-pdl-patterns{patterns-file=F}`.
void register_spec_passes();

}  // namespace baton::compiler_lite::specs
