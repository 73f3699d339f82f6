// The operations of transform_ops.td, which specs use beside those of MLIR's transform dialect.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "compiler-lite/specs/transform_ops.hpp.inc"

namespace baton::compiler_lite::specs {

// Makes them, and MLIR's own extensions that specs use, part of the transform dialect wherever it is loaded.
void register_transform_ops(mlir::DialectRegistry& registry);

}  // namespace baton::compiler_lite::specs
