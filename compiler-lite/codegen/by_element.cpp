#include "compiler-lite/codegen/by_element.hpp"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::codegen {

namespace linalg = mlir::linalg;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

linalg::GenericOp make_by_element(OpBuilder& builder, Location location, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                                  mlir::Type element, ValueRange inputs, ElementWriter write) {
  const Value empty = builder.create<mlir::tensor::EmptyOp>(location, sizes, element);
  const auto rank = static_cast<unsigned>(sizes.size());
  const llvm::SmallVector<mlir::AffineMap> maps(inputs.size() + 1, builder.getMultiDimIdentityMap(rank));
  const llvm::SmallVector<mlir::utils::IteratorType> loops(rank, mlir::utils::IteratorType::parallel);
  return builder.create<linalg::GenericOp>(location, empty.getType(), inputs, empty, maps, loops,
                                           [&](OpBuilder& body, Location at, ValueRange elements) {
                                             body.create<linalg::YieldOp>(at, write(body, at, elements.drop_back()));
                                           });
}

llvm::SmallVector<Value> this_element(OpBuilder& body, Location location, size_t rank) {
  llvm::SmallVector<Value> numbers;
  for (size_t d = 0; d < rank; ++d) {
    numbers.push_back(body.create<linalg::IndexOp>(location, static_cast<int64_t>(d)));
  }
  return numbers;
}

}  // namespace baton::compiler_lite::codegen
