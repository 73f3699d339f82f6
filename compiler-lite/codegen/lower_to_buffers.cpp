#include "compiler-lite/codegen/lower_to_buffers.hpp"

#include "compiler-lite/codegen/bounded_rewrites.hpp"
#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/loop_homes.hpp"
#include "compiler-lite/codegen/passes.hpp"
#include "compiler-lite/codegen/ukernel.hpp"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/Passes.h"

namespace baton::compiler_lite::codegen {
namespace {

using mlir::Value;

// The metadata of a memref is what the upstream operation gives; only this one is not folded too early.
void resolve_strided_metadata(mlir::ModuleOp kernels) {
  kernels.walk([](mlir::Operation* op) {
    if (!is_operation(op, kExtractStridedMetadata)) return;
    mlir::OpBuilder builder(op);
    auto resolved = builder.create<mlir::memref::ExtractStridedMetadataOp>(op->getLoc(), op->getOperand(0));
    op->replaceAllUsesWith(resolved);
    op->erase();
  });
}

bool has_tensors(mlir::ModuleOp kernels) {
  return kernels
      .walk([](mlir::Operation* op) {
        const auto is_tensor = [](mlir::Type type) { return llvm::isa<mlir::TensorType>(type); };
        const bool found =
            llvm::any_of(op->getOperandTypes(), is_tensor) || llvm::any_of(op->getResultTypes(), is_tensor);
        return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

mlir::LogicalResult inline_functions(mlir::ModuleOp kernels) {
  QuickPasses passes(kernels);
  passes.addPass(mlir::createInlinerPass());
  passes.addPass(mlir::createSymbolDCEPass());
  return passes.run(kernels);
}

mlir::LogicalResult fold_empty_tensors(mlir::ModuleOp kernels) {
  mlir::RewritePatternSet patterns(kernels.getContext());
  mlir::tensor::populateFoldTensorEmptyPatterns(patterns);
  mlir::tensor::populateFoldTensorSubsetOpPatterns(patterns);
  mlir::tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns, kernels.getContext());
  return rewrite_greedily(kernels, std::move(patterns));
}

// What `op` is computed for is computed for `write`, unless it was for an earlier one.
void assign(mlir::Operation* op, mlir::Operation* write, llvm::DenseMap<mlir::Operation*, mlir::Operation*>& writes) {
  if (!op || !writes.try_emplace(op, write).second) return;
  for (const mlir::Value operand : op->getOperands()) assign(operand.getDefiningOp(), write, writes);
}

// What `value` begins as, once more: an empty tensor, or one that is filled. Null for what is computed.
Value beginning_of_its_own(mlir::OpBuilder& builder, Value value) {
  if (const auto empty = value.getDefiningOp<mlir::tensor::EmptyOp>()) return builder.clone(*empty)->getResult(0);
  auto fill = value.getDefiningOp<mlir::linalg::FillOp>();
  if (!fill) return {};
  const Value filled = beginning_of_its_own(builder, fill.getOutputs().front());
  if (!filled) return {};
  mlir::IRMapping mapping;
  mapping.map(fill.getOutputs().front(), filled);
  return builder.clone(*fill, mapping)->getResult(0);
}

// The empty tensor that `value` is computed in, through the operations that write it, gets no other use.
void keep_memory_apart(Value value) {
  while (const auto result = llvm::dyn_cast<mlir::OpResult>(value)) {
    auto op = llvm::dyn_cast<mlir::DestinationStyleOpInterface>(result.getOwner());
    if (!op) return;
    mlir::OpOperand* const destination = op.getTiedOpOperand(result);
    value = destination->get();
    const auto empty = value.getDefiningOp<mlir::tensor::EmptyOp>();
    if (!empty || empty->hasOneUse()) continue;
    destination->set(mlir::OpBuilder(empty).clone(*empty)->getResult(0));
    return;
  }
}

// Results of one operation don't share memory because they begin alike, or in the same place.
void separate_results(mlir::ModuleOp kernels) {
  kernels.walk([](mlir::DestinationStyleOpInterface op) {
    if (op->getNumResults() < 2) return;
    mlir::OpBuilder builder(op);
    for (mlir::OpOperand& begin : op.getDpsInitsMutable()) {
      if (const Value own = beginning_of_its_own(builder, begin.get())) {
        begin.set(own);
      } else {
        keep_memory_apart(begin.get());
      }
    }
  });
  kernels.walk([](mlir::LoopLikeOpInterface loop) {
    for (mlir::OpOperand& begin : loop.getInitsMutable()) {
      const auto empty = begin.get().getDefiningOp<mlir::tensor::EmptyOp>();
      if (empty && !empty->hasOneUse()) begin.set(mlir::OpBuilder(loop).clone(*empty)->getResult(0));
    }
  });
}

// Nor do results of several operations because they have the same shape. Within what one result is computed from sharing
// is welcome: a product and what follows it then happen in one place.
void split_empty_tensors(mlir::ModuleOp kernels) {
  separate_results(kernels);
  llvm::DenseMap<mlir::Operation*, mlir::Operation*> writes;
  kernels.walk([&](mlir::bufferization::MaterializeInDestinationOp write) {
    assign(write.getSource().getDefiningOp(), write, writes);
  });
  kernels.walk([&](mlir::tensor::EmptyOp empty) {
    llvm::DenseMap<mlir::Operation*, Value> copies;
    for (mlir::OpOperand& use : llvm::make_early_inc_range(empty->getUses())) {
      Value& copy = copies[writes.lookup(use.getOwner())];
      mlir::OpBuilder builder(empty);
      if (!copy) copy = copies.size() == 1 ? Value(empty.getResult()) : Value(builder.clone(*empty)->getResult(0));
      use.set(copy);
    }
  });
}

mlir::LogicalResult simplify(mlir::ModuleOp kernels) {
  QuickPasses passes(kernels);
  auto& functions = passes.nest<mlir::func::FuncOp>();
  functions.addPass(mlir::createCanonicalizerPass());
  functions.addPass(mlir::createCSEPass());
  return passes.run(kernels);
}

// An operation without a bufferization would leave a mixture of tensors and buffers that no later step can read.
mlir::LogicalResult check_bufferized(mlir::ModuleOp kernels) {
  bool good = true;
  kernels.walk([&](mlir::Operation* op) {
    const auto is_tensor = [](mlir::Type type) { return llvm::isa<mlir::TensorType>(type); };
    if (!good || !llvm::any_of(op->getResultTypes(), is_tensor) || llvm::isa<mlir::bufferization::ToTensorOp>(op)) {
      return;
    }
    op->emitError("'") << op->getName() << "' is not supported in kernels.";
    good = false;
  });
  return mlir::success(good);
}

mlir::LogicalResult bufferize(mlir::ModuleOp kernels, Branches branches) {
  if (mlir::failed(fold_empty_tensors(kernels)) || mlir::failed(simplify(kernels))) return mlir::failure();
  if (branches == Branches::kWriteOneMemory) give_branches_homes(kernels);
  give_loops_homes(kernels);
  split_empty_tensors(kernels);
  QuickPasses passes(kernels);
  auto& functions = passes.nest<mlir::func::FuncOp>();
  functions.addPass(mlir::bufferization::createEmptyTensorEliminationPass());
  functions.addPass(mlir::bufferization::createEmptyTensorToAllocTensorPass());
  mlir::bufferization::OneShotBufferizationOptions options;
  options.allowUnknownOps = true;  // hal.interface.* and iree_codegen.*: they have no tensors.
  passes.addPass(mlir::bufferization::createOneShotBufferizePass(options));
  auto& buffers = passes.nest<mlir::func::FuncOp>();
  buffers.addPass(mlir::createCanonicalizerPass());
  buffers.addPass(mlir::createCSEPass());
  if (mlir::failed(passes.run(kernels))) return mlir::failure();
  return check_bufferized(kernels);
}

}  // namespace

mlir::LogicalResult clean_up(mlir::ModuleOp kernels) {
  QuickPasses passes(kernels);
  auto& functions = passes.nest<mlir::func::FuncOp>();
  functions.addPass(mlir::createCanonicalizerPass());
  functions.addPass(mlir::createCSEPass());
  functions.addPass(mlir::createLoopInvariantCodeMotionPass());
  return passes.run(kernels);
}

mlir::LogicalResult lower_to_buffers(mlir::ModuleOp kernels, Branches branches) {
  resolve_strided_metadata(kernels);
  if (mlir::failed(inline_functions(kernels))) return mlir::failure();
  if (has_tensors(kernels) && mlir::failed(bufferize(kernels, branches))) return mlir::failure();
  return mlir::success(mlir::succeeded(ukernels_to_calls(kernels)) && mlir::succeeded(mlir::verify(kernels)));
}

}  // namespace baton::compiler_lite::codegen
