// number_like: one number in the shape of a value.
#pragma once

#include "mlir/IR/Builders.h"

namespace baton::compiler_lite::lower {

// `number`, or as many of it as `like` has elements: a constant where all sizes are known, since it has all of its own.
mlir::Value number_like(mlir::OpBuilder& builder, mlir::Location where, mlir::Value like, mlir::TypedAttr number);

}  // namespace baton::compiler_lite::lower
