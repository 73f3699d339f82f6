#include "compiler-lite/codegen/attention.hpp"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace linalg = mlir::linalg;
namespace memref = mlir::memref;
namespace tensor = mlir::tensor;
using mlir::OpBuilder;
using mlir::Value;

// Each operation gets memory of its own for what it writes, so that its memory tells who wrote it.
class Buffers {
 public:
  Buffers(mlir::func::FuncOp kernel, mlir::bufferization::MaterializeInDestinationOp write)
      : kernel_(kernel), write_(write) {}

  mlir::LogicalResult run() {
    llvm::SmallVector<mlir::Operation*> operations, gone;
    for (mlir::Operation& op : kernel_.getBody().front()) operations.push_back(&op);
    for (mlir::Operation* op : operations) {
      if (auto view = llvm::dyn_cast<mlir::bufferization::ToTensorOp>(op)) {
        memory_.map(view.getResult(), view.getMemref());
      } else if (auto structured = llvm::dyn_cast<linalg::LinalgOp>(op)) {
        // Who reads a filled tensor fills its own.
        if (!llvm::isa<linalg::FillOp>(op)) convert(structured);
      } else if (auto dim = llvm::dyn_cast<tensor::DimOp>(op)) {
        const Value memory = memory_.lookupOrNull(dim.getSource());
        if (!memory) continue;
        dim.replaceAllUsesWith(OpBuilder(op).create<memref::DimOp>(op->getLoc(), memory, dim.getIndex()).getResult());
      } else if (!llvm::isa<tensor::EmptyOp, mlir::bufferization::MaterializeInDestinationOp>(op)) {
        if (llvm::any_of(op->getResultTypes(), [](mlir::Type type) { return llvm::isa<mlir::TensorType>(type); })) {
          return op->emitError("'") << op->getName() << "' has no place in a kernel of attention.";
        }
        continue;
      }
      gone.push_back(op);
    }
    for (mlir::Operation* op : llvm::reverse(gone)) op->erase();
    return mlir::success();
  }

 private:
  void convert(linalg::LinalgOp op) {
    OpBuilder builder(op);
    llvm::SmallVector<Value> operands;
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      operands.push_back(op.isDpsInit(&operand) ? begin(builder, op, operand) : memory_.lookupOrDefault(operand.get()));
    }
    mlir::clone(builder, op, mlir::TypeRange(), operands);
    for (unsigned i = 0; i < op->getNumResults(); ++i) {
      memory_.map(op->getResult(i), operands[static_cast<size_t>(op.getNumDpsInputs()) + i]);
    }
  }

  Value begin(OpBuilder& builder, linalg::LinalgOp op, mlir::OpOperand& init) {
    const auto type = llvm::cast<mlir::RankedTensorType>(init.get().getType());
    const bool is_last = op.getTiedOpResult(&init) == write_.getSource();
    Value memory = is_last ? write_.getDest() : Value();
    if (!memory) {
      memory = builder.create<memref::AllocOp>(
          op.getLoc(), mlir::MemRefType::get(type.getShape(), type.getElementType()), sizes_of(init.get()));
    }
    if (auto fill = init.get().getDefiningOp<linalg::FillOp>()) {
      builder.create<linalg::FillOp>(op.getLoc(), fill.value(), memory);
    }
    return memory;
  }

  // find_attention has seen that operations begin with empty or filled tensors.
  static mlir::ValueRange sizes_of(Value tensor) {
    if (auto fill = tensor.getDefiningOp<linalg::FillOp>()) tensor = fill.getOutputs().front();
    return tensor.getDefiningOp<tensor::EmptyOp>().getDynamicSizes();
  }

  mlir::func::FuncOp kernel_;
  mlir::bufferization::MaterializeInDestinationOp write_;
  mlir::IRMapping memory_;
};

}  // namespace

mlir::FailureOr<mlir::AffineMap> make_attention_kernel(mlir::func::FuncOp kernel, const Destination& destination,
                                                       unsigned symbol_count) {
  kernel->setAttr(kAttention, mlir::UnitAttr::get(kernel.getContext()));
  mlir::bufferization::MaterializeInDestinationOp write = destination.write;
  if (mlir::failed(Buffers(kernel, write).run())) return mlir::failure();
  std::optional<Attention> attention = find_attention(kernel);
  if (!attention) return kernel.emitError("The kernel is no attention.");
  // The dimensions of what is written, by those of the scores.
  const llvm::SmallVector<unsigned> of_mixed =
      attention->dimensions_of(attention->mixed, attention->mixed.getIndexingMapsArray()[2]);
  mlir::AffineExpr count = mlir::getAffineConstantExpr(key_sharers(*attention), kernel.getContext());
  for (unsigned i = 0; i < of_mixed.size(); ++i) {
    unsigned at = i;
    if (attention->last) {
      for (mlir::OpOperand* operand : attention->last.getDpsInputOperands()) {
        if (operand->get() == attention->mixed.getDpsInits()[0]) {
          at = attention->last.getMatchingIndexingMap(operand).getDimPosition(i);
        }
      }
    }
    if (of_mixed[i] == attention->rank) continue;
    const mlir::AffineExpr size = destination.sizes[at];
    count = count * (of_mixed[i] == attention->row ? size.ceilDiv(static_cast<uint64_t>(kAttentionRows)) : size);
  }
  return make_grid(kernel.getContext(), count, symbol_count);
}

}  // namespace baton::compiler_lite::codegen
