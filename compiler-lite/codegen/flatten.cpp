#include "compiler-lite/codegen/flatten.hpp"

#include "compiler-lite/codegen/interface_ops.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace bufferization = mlir::bufferization;
namespace linalg = mlir::linalg;
using mlir::Value;

// A binding seen as a tensor.
mlir::Operation* subspan_of(Value tensor) {
  auto view = tensor.getDefiningOp<bufferization::ToTensorOp>();
  mlir::Operation* subspan = view ? view.getMemref().getDefiningOp() : nullptr;
  return subspan && is_operation(subspan, kBindingSubspan) ? subspan : nullptr;
}

bool is_flat_operand(linalg::GenericOp op, mlir::OpOperand& operand) {
  const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
  if (map.getNumResults() == 0) return true;
  if (!map.isIdentity()) return false;
  return subspan_of(operand.get()) || (op.isDpsInit(&operand) && operand.get().getDefiningOp<mlir::tensor::EmptyOp>());
}

// The kernel's only operation, if it can be flattened.
linalg::GenericOp find_flat(mlir::func::FuncOp kernel, llvm::ArrayRef<Destination> destinations) {
  llvm::SmallVector<linalg::LinalgOp> operations(kernel.getBody().front().getOps<linalg::LinalgOp>());
  if (operations.size() != 1 || destinations.empty()) return {};
  auto op = llvm::dyn_cast<linalg::GenericOp>(operations[0].getOperation());
  if (!op || op.getNumLoops() < 2 || op.getNumParallelLoops() != op.getNumLoops() || op.hasIndexSemantics()) return {};
  if (op.getNumResults() != destinations.size()) return {};
  for (Destination destination : destinations) {
    mlir::Operation* memory = destination.write.getDest().getDefiningOp();
    if (destination.write.getSource().getDefiningOp() != op || !memory || !is_operation(memory, kBindingSubspan)) {
      return {};
    }
  }
  for (Value result : op->getResults()) {
    if (!result.hasOneUse()) return {};
  }
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    if (!is_flat_operand(op, operand)) return {};
  }
  return op;
}

class Flattener {
 public:
  Flattener(mlir::IRRewriter& rewriter, linalg::GenericOp op) : rewriter_(rewriter), op_(op), location_(op.getLoc()) {}

  void run(llvm::SmallVectorImpl<Destination>& destinations) {
    rewriter_.setInsertionPoint(op_);
    count_ = count_elements(destinations[0].write.getDest().getDefiningOp());
    // Before the operation, which is to write there.
    llvm::SmallVector<Value> targets;
    for (Destination& destination : destinations) {
      targets.push_back(flat_subspan(destination.write.getDest().getDefiningOp()));
    }
    llvm::SmallVector<Value> inputs, inits;
    llvm::SmallVector<mlir::AffineMap> maps;
    llvm::SmallVector<mlir::Type> types;
    for (mlir::OpOperand& operand : op_->getOpOperands()) {
      const bool scalar = op_.getMatchingIndexingMap(&operand).getNumResults() == 0;
      const Value flat = scalar ? operand.get() : flatten(operand.get());
      maps.push_back(scalar ? mlir::AffineMap::get(1, 0, rewriter_.getContext())
                            : mlir::AffineMap::getMultiDimIdentityMap(1, rewriter_.getContext()));
      (op_.isDpsInit(&operand) ? inits : inputs).push_back(flat);
      if (op_.isDpsInit(&operand)) types.push_back(flat.getType());
    }
    auto flat = rewriter_.create<linalg::GenericOp>(location_, types, inputs, inits, maps,
                                                    llvm::ArrayRef{mlir::utils::IteratorType::parallel});
    rewriter_.inlineRegionBefore(op_.getRegion(), flat.getRegion(), flat.getRegion().end());
    for (size_t i = 0; i < targets.size(); ++i) redirect(destinations[i], flat, targets[i]);
    rewriter_.eraseOp(op_);
  }

 private:
  Value count_elements(mlir::Operation* subspan) {
    const auto type = llvm::cast<mlir::MemRefType>(subspan->getResult(0).getType());
    int64_t known = 1;
    for (const int64_t size : type.getShape()) known *= mlir::ShapedType::isDynamic(size) ? 1 : size;
    Value count = rewriter_.create<mlir::arith::ConstantIndexOp>(location_, known);
    for (const Value size : view_subspan(subspan).sizes) {
      count = rewriter_.createOrFold<mlir::arith::MulIOp>(location_, count, size);
    }
    return count;
  }

  static int64_t flat_size(mlir::ShapedType type) {
    return type.hasStaticShape() ? type.getNumElements() : mlir::ShapedType::kDynamic;
  }

  Value flat_subspan(mlir::Operation* subspan) {
    const auto type = llvm::cast<mlir::MemRefType>(subspan->getResult(0).getType());
    const int64_t size = flat_size(type);
    const auto flat = mlir::MemRefType::get({size}, type.getElementType());
    mlir::OperationState state(location_, kBindingSubspan);
    const bool dynamic = mlir::ShapedType::isDynamic(size);
    if (dynamic) state.addOperands(count_);
    state.addTypes(flat);
    state.addAttributes(subspan->getAttrs());
    state.attributes.set("operandSegmentSizes", rewriter_.getDenseI32ArrayAttr({0, dynamic ? 1 : 0}));
    return rewriter_.create(state)->getResult(0);
  }

  Value flatten(Value tensor) {
    const auto type = llvm::cast<mlir::RankedTensorType>(tensor.getType());
    mlir::Operation* subspan = subspan_of(tensor);
    if (!subspan) {
      const int64_t size = flat_size(type);
      const mlir::ValueRange sizes = mlir::ShapedType::isDynamic(size) ? mlir::ValueRange(count_) : mlir::ValueRange();
      return rewriter_.create<mlir::tensor::EmptyOp>(location_, llvm::ArrayRef<int64_t>{size}, type.getElementType(),
                                                     sizes);
    }
    auto view = tensor.getDefiningOp<bufferization::ToTensorOp>();
    auto flat = rewriter_.create<bufferization::ToTensorOp>(location_, flat_subspan(subspan));
    flat.setRestrict(view.getRestrict());
    flat.setWritable(view.getWritable());
    return flat;
  }

  void redirect(Destination& destination, linalg::GenericOp flat, Value target) {
    const unsigned result = llvm::cast<mlir::OpResult>(destination.write.getSource()).getResultNumber();
    auto write = rewriter_.create<bufferization::MaterializeInDestinationOp>(location_, flat.getResult(result), target);
    write.setRestrict(true);
    write.setWritable(true);
    mlir::AffineExpr size = rewriter_.getAffineConstantExpr(1);
    for (const mlir::AffineExpr part : destination.sizes) size = size * part;
    rewriter_.eraseOp(destination.write);
    destination = {write, {size}};
  }

  mlir::IRRewriter& rewriter_;
  linalg::GenericOp op_;
  mlir::Location location_;
  Value count_;
};

}  // namespace

void flatten_elementwise(mlir::func::FuncOp kernel, llvm::SmallVectorImpl<Destination>& destinations) {
  linalg::GenericOp op = find_flat(kernel, destinations);
  if (!op) return;
  mlir::IRRewriter rewriter(kernel.getContext());
  Flattener(rewriter, op).run(destinations);
}

}  // namespace baton::compiler_lite::codegen
