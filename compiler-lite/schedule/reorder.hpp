// reorder: tensors and maps with their dimensions in another order.
#pragma once

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {

// By dimension of the new tensor: which dimension of the old one it is.
using Order = llvm::SmallVector<int64_t>;

// The dimension of a map's results that is the loop and nothing else.
std::optional<unsigned> dimension_of(mlir::AffineMap map, unsigned loop);
// Whether the loop moves a window: a dimension of the map's results is made of it and of others.
bool has_window_along(mlir::AffineMap map, unsigned loop);
// `last` stand at the end, the others in front of them as they stood.
Order order_with(unsigned rank, llvm::ArrayRef<int64_t> last);

template <typename Element>
llvm::SmallVector<Element> in_order(llvm::ArrayRef<Element> elements, const Order& order) {
  return mlir::applyPermutation(elements, llvm::ArrayRef<int64_t>(order));
}

class Transposer {
 public:
  Transposer(mlir::PatternRewriter& rewriter, mlir::Location location) : rewriter_(rewriter), location_(location) {}

  // Borders and fills are made in the new order; only what is inside of them is copied.
  mlir::Value transpose(mlir::Value value, const Order& order);
  // In a form that fuses with the operations that read it.
  mlir::Value transpose_back(mlir::Value value, const Order& order);

 private:
  mlir::Value empty(mlir::Value value, const Order& order);

  mlir::PatternRewriter& rewriter_;
  mlir::Location location_;
};

}  // namespace baton::compiler_lite::schedule
