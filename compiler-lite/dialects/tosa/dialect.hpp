// The dialect `tosa` (tosa.td): its operations and types.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

// Generated code needs what stands above.
// clang-format off
#include "compiler-lite/dialects/tosa/tosa.dialect.hpp.inc"
// clang-format on

#define GET_TYPEDEF_CLASSES
#include "compiler-lite/dialects/tosa/tosa.types.hpp.inc"

#define GET_OP_CLASSES
#include "compiler-lite/dialects/tosa/tosa.ops.hpp.inc"
