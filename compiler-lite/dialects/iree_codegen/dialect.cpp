#include "compiler-lite/dialects/iree_codegen/dialect.hpp"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;  // NOLINT: the generated code speaks MLIR.

#include "compiler-lite/dialects/iree_codegen/iree_codegen.dialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler-lite/dialects/iree_codegen/iree_codegen.attributes.cpp.inc"

namespace baton::compiler_lite::iree_codegen {

void IREECodegenDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler-lite/dialects/iree_codegen/iree_codegen.attributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler-lite/dialects/iree_codegen/iree_codegen.ops.cpp.inc"
      >();
}

// Packs the results as `%base_buffer, %offset, %sizes:2, %strides:2`.
void ExtractStridedMetadataOp::getAsmResultNames(OpAsmSetValueNameFn set_name) {
  const unsigned rank = (getNumResults() - 2) / 2;
  set_name(getResult(0), "base_buffer");
  set_name(getResult(1), "offset");
  if (rank == 0) return;
  set_name(getResult(2), "sizes");
  set_name(getResult(2 + rank), "strides");
}

LogicalResult ExtractStridedMetadataOp::verify() {
  const auto type = cast<MemRefType>(getSource().getType());
  const size_t wanted = 2 + 2 * static_cast<size_t>(type.getRank());
  if (getNumResults() != wanted) {
    return emitOpError() << "has " << getNumResults() << " results, and a rank-" << type.getRank() << " memref gives "
                         << wanted << ": base, offset, sizes, strides";
  }
  const auto base = dyn_cast<MemRefType>(getResult(0).getType());
  if (!base || base.getRank() != 0 || base.getElementType() != type.getElementType()) {
    return emitOpError() << "has a base of type " << getResult(0).getType() << ", and memref<" << type.getElementType()
                         << "> is what " << type << " gives";
  }
  for (const Value result : getResults().drop_front()) {
    if (!result.getType().isIndex()) return emitOpError() << "gives offset, sizes and strides as index values";
  }
  return success();
}

LogicalResult UKernelGenericOp::verify() {
  if (getNumResults() != 0 && getNumResults() != getOutputs().size()) {
    return emitOpError() << "has " << getNumResults() << " results for " << getOutputs().size() << " outs";
  }
  return success();
}

}  // namespace baton::compiler_lite::iree_codegen

#define GET_OP_CLASSES
#include "compiler-lite/dialects/iree_codegen/iree_codegen.ops.cpp.inc"
