// The dialects `torch` (torch.td) and `torch_c` (../torch_c/torch_c.td): their operations and types.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

// Generated code needs what stands above.
// clang-format off
#include "compiler-lite/dialects/torch/torch.dialect.hpp.inc"
#include "compiler-lite/dialects/torch_c/torch_c.dialect.hpp.inc"
// clang-format on

#define GET_TYPEDEF_CLASSES
#include "compiler-lite/dialects/torch/torch.types.hpp.inc"

#define GET_OP_CLASSES
#include "compiler-lite/dialects/torch/torch.ops.hpp.inc"
#define GET_OP_CLASSES
#include "compiler-lite/dialects/torch_c/torch_c.ops.hpp.inc"
