// Questions about tensors that several files here ask.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace baton::compiler_lite::schedule {

inline bool is_tensor(mlir::Type type) { return llvm::isa<mlir::RankedTensorType>(type); }
inline bool is_tensor(mlir::Value value) { return is_tensor(value.getType()); }

inline bool has_static_shape(mlir::Value tensor) {
  return llvm::cast<mlir::RankedTensorType>(tensor.getType()).hasStaticShape();
}

inline bool has_tensor_types(mlir::FunctionType type) {
  return llvm::any_of(type.getInputs(), [](mlir::Type each) { return is_tensor(each); }) ||
         llvm::any_of(type.getResults(), [](mlir::Type each) { return is_tensor(each); });
}

// Whether it takes or gives tensors.
inline bool has_tensors(mlir::Operation* op) {
  return llvm::any_of(op->getOperandTypes(), [](mlir::Type type) { return is_tensor(type); }) ||
         llvm::any_of(op->getResultTypes(), [](mlir::Type type) { return is_tensor(type); });
}
// The same, or something in its regions.
inline bool contains_tensors(mlir::Operation* op) {
  return op
      ->walk([](mlir::Operation* inner) {
        return has_tensors(inner) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

// Of one element in a buffer: 1, 2, 4, 8 or 16 bytes, or two such; lower/functions_to_util.cpp refused all others.
inline int64_t element_bytes(mlir::Type type) {
  if (llvm::isa<mlir::IndexType>(type)) return 8;
  if (const auto complex = llvm::dyn_cast<mlir::ComplexType>(type)) return 2 * element_bytes(complex.getElementType());
  return (type.getIntOrFloatBitWidth() + 7) / 8;
}

}  // namespace baton::compiler_lite::schedule
