#include "compiler-lite/codegen/ukernel.hpp"

#include "compiler-lite/dialects/iree_codegen/dialect.hpp"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace bufferization = mlir::bufferization;
using Op = iree_codegen::UKernelGenericOp;
using mlir::Value;

// The tensors among the outputs and the results are pairs, in order.
struct Bufferization : bufferization::BufferizableOpInterface::ExternalModel<Bufferization, Op> {
  static bool is_output(mlir::Operation* op, mlir::OpOperand& operand) {
    auto ukernel = llvm::cast<Op>(op);
    const unsigned first = static_cast<unsigned>(ukernel.getInputs().size());
    const unsigned number = operand.getOperandNumber();
    return number >= first && number < first + ukernel.getOutputs().size();
  }

  bool bufferizesToMemoryRead(mlir::Operation*, mlir::OpOperand&, const bufferization::AnalysisState&) const {
    return true;
  }
  bool bufferizesToMemoryWrite(mlir::Operation* op, mlir::OpOperand& operand,
                               const bufferization::AnalysisState&) const {
    return is_output(op, operand);
  }
  bufferization::AliasingValueList getAliasingValues(mlir::Operation* op, mlir::OpOperand& operand,
                                                     const bufferization::AnalysisState&) const {
    if (!is_output(op, operand)) return {};
    const unsigned i = operand.getOperandNumber() - static_cast<unsigned>(llvm::cast<Op>(op).getInputs().size());
    return {{op->getResult(i), bufferization::BufferRelation::Equivalent}};
  }

  mlir::LogicalResult bufferize(mlir::Operation* op, mlir::RewriterBase& rewriter,
                                const bufferization::BufferizationOptions& options) const {
    auto ukernel = llvm::cast<Op>(op);
    llvm::SmallVector<Value> operands;
    for (const Value operand : op->getOperands()) {
      if (!llvm::isa<mlir::TensorType>(operand.getType())) {
        operands.push_back(operand);
        continue;
      }
      mlir::FailureOr<Value> memory = bufferization::getBuffer(rewriter, operand, options);
      if (mlir::failed(memory)) return mlir::failure();
      operands.push_back(*memory);
    }
    mlir::OperationState state(op->getLoc(), op->getName(), operands, mlir::TypeRange(), op->getAttrs());
    rewriter.create(state);
    const size_t first = ukernel.getInputs().size();
    bufferization::replaceOpWithBufferizedValues(rewriter, op,
                                                 mlir::ValueRange(operands).slice(first, ukernel.getOutputs().size()));
    return mlir::success();
  }
};

// Which strides the i-th memref passes: those listed, or all.
llvm::SmallVector<int64_t> passed_strides(Op op, size_t i, int64_t rank) {
  llvm::SmallVector<int64_t> dimensions;
  if (const mlir::ArrayAttr lists = op.getStridedDimsAttr()) {
    if (i >= lists.size()) return dimensions;
    for (const mlir::Attribute dimension : llvm::cast<mlir::ArrayAttr>(lists[static_cast<unsigned>(i)])) {
      dimensions.push_back(llvm::cast<mlir::IntegerAttr>(dimension).getInt());
    }
    return dimensions;
  }
  for (int64_t d = 0; d < rank; ++d) dimensions.push_back(d);
  return dimensions;
}

mlir::func::FuncOp declare(mlir::ModuleOp kernels, Op op, mlir::TypeRange types) {
  if (auto known = kernels.lookupSymbol<mlir::func::FuncOp>(op.getUKernelFnName())) return known;
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(kernels.getBody());
  auto function =
      builder.create<mlir::func::FuncOp>(op.getLoc(), op.getUKernelFnName(), builder.getFunctionType(types, {}));
  function.setPrivate();
  function->setAttr("llvm.bareptr", builder.getBoolAttr(true));
  if (const mlir::DictionaryAttr attributes = op.getFnDefAttrsAttr()) {
    for (const mlir::NamedAttribute attribute : attributes)
      function->setAttr(attribute.getName(), attribute.getValue());
  }
  return function;
}

mlir::LogicalResult lower(mlir::ModuleOp kernels, Op op) {
  mlir::OpBuilder builder(op);
  llvm::SmallVector<Value> arguments;
  llvm::SmallVector<Value> memory(op.getInputs());
  llvm::append_range(memory, op.getOutputs());
  for (size_t i = 0; i < memory.size(); ++i) {
    const auto type = llvm::dyn_cast<mlir::MemRefType>(memory[i].getType());
    if (!type) {
      arguments.push_back(memory[i]);  // A scalar among the inputs.
      continue;
    }
    auto parts = builder.create<mlir::memref::ExtractStridedMetadataOp>(op.getLoc(), memory[i]);
    arguments.push_back(parts.getBaseBuffer());
    arguments.push_back(parts.getOffset());
    for (const int64_t d : passed_strides(op, i, type.getRank())) {
      if (d < 0 || d >= type.getRank()) {
        return op.emitError("strided_dims names dimension ") << d << " of a memref of rank " << type.getRank() << ".";
      }
      arguments.push_back(parts.getStrides()[static_cast<unsigned>(d)]);
    }
  }
  llvm::append_range(arguments, op.getOtherOperands());
  mlir::func::FuncOp function = declare(kernels, op, mlir::ValueRange(arguments).getTypes());
  const auto wanted = builder.getFunctionType(mlir::ValueRange(arguments).getTypes(), {});
  if (function.getFunctionType() != wanted) {
    return op.emitError("The call of '") << op.getUKernelFnName() << "' passes " << wanted << "; the function takes "
                                         << function.getFunctionType() << ".";
  }
  builder.create<mlir::func::CallOp>(op.getLoc(), function, arguments);
  op.erase();
  return mlir::success();
}

}  // namespace

void register_ukernel_bufferization(mlir::DialectRegistry& registry) {
  registry.addExtension(+[](mlir::MLIRContext* context, iree_codegen::IREECodegenDialect*) {
    Op::attachInterface<Bufferization>(*context);
  });
}

mlir::LogicalResult ukernels_to_calls(mlir::ModuleOp kernels) {
  llvm::SmallVector<Op> operations;
  kernels.walk([&](Op op) { operations.push_back(op); });
  for (Op op : operations) {
    if (mlir::failed(lower(kernels, op))) return mlir::failure();
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::codegen
