#include "compiler-lite/dialects/tosa/dialect.hpp"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;  // NOLINT: the generated code speaks MLIR.

#include "compiler-lite/dialects/tosa/tosa.dialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler-lite/dialects/tosa/tosa.types.cpp.inc"

namespace baton::compiler_lite::tosa {

void TosaDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler-lite/dialects/tosa/tosa.types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler-lite/dialects/tosa/tosa.ops.cpp.inc"
      >();
}

}  // namespace baton::compiler_lite::tosa

#define GET_OP_CLASSES
#include "compiler-lite/dialects/tosa/tosa.ops.cpp.inc"
