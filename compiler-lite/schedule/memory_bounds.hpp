// MemoryBounds: sizes that callers or data bring make tensors that a memory could hold: none is negative, and their
// product in bytes wraps round nowhere behind.
#pragma once

#include <vector>

#include "compiler-lite/schedule/places.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::schedule {

class MemoryBounds {
 public:
  MemoryBounds(ScheduledFunction& function, Places& places)
      : hal_(function.hal), builder_(function.builder), bounds_(function.bounds), places_(places) {}

  // What a view brings lies in memory: its sizes, taken together, are no more than that.
  void note(mlir::RankedTensorType type, mlir::ValueRange sizes);
  void require(mlir::Operation* op, mlir::Value tensor, mlir::ValueRange sizes);
  // For all tensors that `op` gives, a flow.dispatch or a flow.call.
  template <typename Op>
  void require_results(Op op) {
    unsigned first = 0;
    for (const mlir::Value result : op.getResults()) {
      const auto type = llvm::dyn_cast<mlir::RankedTensorType>(result.getType());
      if (!type) continue;
      const auto count = static_cast<unsigned>(type.getNumDynamicDims());
      require(op, result, op.getResultDims().slice(first, count));
      first += count;
    }
  }
  // The same elements in another shape: as many as before.
  void require_same_count(mlir::tensor::ReshapeOp op, mlir::ValueRange sizes);

 private:
  bool is_bounded(mlir::ValueRange sizes, int64_t bytes);

  // Sizes whose product is known to be one that a memory has, with `bytes` for each; null: in all blocks.
  struct Bounded {
    llvm::SmallVector<mlir::Value> sizes;
    int64_t bytes;
    mlir::Block* block;
  };
  HalCalls& hal_;
  mlir::OpBuilder& builder_;
  Bounds& bounds_;
  Places& places_;
  std::vector<Bounded> bounded_;
};

}  // namespace baton::compiler_lite::schedule
