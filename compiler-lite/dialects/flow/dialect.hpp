// The dialect `flow` (flow.td): its operations, types and attributes.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

// Generated code needs what stands above.
// clang-format off
#include "compiler-lite/dialects/flow/flow.dialect.hpp.inc"
// clang-format on

#define GET_TYPEDEF_CLASSES
#include "compiler-lite/dialects/flow/flow.types.hpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler-lite/dialects/flow/flow.attributes.hpp.inc"

#define GET_OP_CLASSES
#include "compiler-lite/dialects/flow/flow.ops.hpp.inc"
