// A module whose functions are util.funcs on scalars and references → the bytes of a .bvm file.
//
// What stands in the functions: arith, math, cf, util, and the calls of vm. Everything else must have been lowered;
// what is left is named with its location.
#pragma once

#include <cstddef>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::emit {

struct Options {
  bool strip_debug = false;
};

// Diagnostics say what could not be emitted.
mlir::FailureOr<std::vector<std::byte>> emit_module(mlir::ModuleOp module, const Options& options);

}  // namespace baton::compiler_lite::emit
