// The dialect `iree_codegen` (iree_codegen.td): its operations, types and attributes.
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
#include "compiler-lite/dialects/iree_codegen/iree_codegen.dialect.hpp.inc"
// clang-format on

#define GET_ATTRDEF_CLASSES
#include "compiler-lite/dialects/iree_codegen/iree_codegen.attributes.hpp.inc"

#define GET_OP_CLASSES
#include "compiler-lite/dialects/iree_codegen/iree_codegen.ops.hpp.inc"
