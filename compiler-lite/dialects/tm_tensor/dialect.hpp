// The dialect `tm_tensor` (tm_tensor.td): its operations.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

// Generated code needs what stands above.
// clang-format off
#include "compiler-lite/dialects/tm_tensor/tm_tensor.dialect.hpp.inc"
// clang-format on

#define GET_OP_CLASSES
#include "compiler-lite/dialects/tm_tensor/tm_tensor.ops.hpp.inc"
