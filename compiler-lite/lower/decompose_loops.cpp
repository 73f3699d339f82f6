#include "compiler-lite/lower/decompose_loops.hpp"

#include "compiler-lite/codegen/bounded_rewrites.hpp"
#include "compiler-lite/codegen/by_element.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

LogicalResult refuse(Operation* op, const Twine& why) {
  return emitError(op->getLoc()) << op->getName() << " is not lowered " << why << ".";
}

bool is_same_slice(tensor::ExtractSliceOp read, tensor::ParallelInsertSliceOp write) {
  return read.getMixedOffsets() == write.getMixedOffsets() && read.getMixedSizes() == write.getMixedSizes() &&
         read.getMixedStrides() == write.getMixedStrides();
}

// Iterations of a forall see its outputs as they were before it. Where one reads only the slice that it writes itself,
// that is what the loop carries; elsewhere it must read the first value, which then stays beside the result.
bool reads_what_it_writes(BlockArgument output) {
  SmallVector<tensor::ParallelInsertSliceOp> writes;
  for (Operation* user : output.getUsers()) {
    if (auto write = dyn_cast<tensor::ParallelInsertSliceOp>(user)) writes.push_back(write);
  }
  if (writes.size() != 1) return false;
  return llvm::all_of(output.getUsers(), [&](Operation* user) {
    if (isa<tensor::ParallelInsertSliceOp, tensor::DimOp>(user)) return true;
    auto read = dyn_cast<tensor::ExtractSliceOp>(user);
    return read && is_same_slice(read, writes.front());
  });
}

SmallVector<OpFoldResult> mapped(const IRMapping& values, ArrayRef<OpFoldResult> numbers) {
  return llvm::map_to_vector(numbers, [&](OpFoldResult each) {
    const auto value = dyn_cast<Value>(each);
    return value ? OpFoldResult(values.lookupOrDefault(value)) : each;
  });
}

// One iteration of the forall: what it makes is in the tensors that the loops carry.
scf::ValueVector write_iteration(OpBuilder& builder, Location where, scf::ForallOp op, ValueRange places,
                                 ValueRange carried) {
  IRMapping values;
  values.map(op.getInductionVars(), places);
  const auto outputs = op.getRegionIterArgs();
  for (const auto& [output, now, first] : llvm::zip_equal(outputs, carried, op.getOutputs())) {
    values.map(output, reads_what_it_writes(output) ? now : first);
  }
  for (Operation& each : op.getBody()->without_terminator()) builder.clone(each, values);
  scf::ValueVector results(carried.begin(), carried.end());
  for (Operation& each : op.getTerminator().getYieldingOps()) {
    auto write = cast<tensor::ParallelInsertSliceOp>(each);
    Value& result = results[cast<BlockArgument>(write.getDest()).getArgNumber() - outputs.front().getArgNumber()];
    result = builder.create<tensor::InsertSliceOp>(
        where, values.lookupOrDefault(write.getSource()), result, mapped(values, write.getMixedOffsets()),
        mapped(values, write.getMixedSizes()), mapped(values, write.getMixedStrides()));
  }
  return results;
}

// Whether the number `point[dimensions[i]]` is what the indices name at `batch`, for all i.
Value is_hit(OpBuilder& builder, Location where, tensor::ScatterOp op, ArrayRef<Value> batch, ArrayRef<Value> point) {
  Value hit;
  for (const auto& [i, dimension] : llvm::enumerate(op.getScatterDims())) {
    SmallVector<Value> at(batch);
    at.push_back(builder.create<arith::ConstantIndexOp>(where, static_cast<int64_t>(i)));
    Value named = builder.create<tensor::ExtractOp>(where, op.getIndices(), at);
    named = getValueOrCreateCastToIndexLike(builder, where, builder.getIndexType(), named);
    const Value equal =
        builder.create<arith::CmpIOp>(where, arith::CmpIPredicate::eq, named, point[static_cast<size_t>(dimension)]);
    hit = hit ? builder.create<arith::AndIOp>(where, hit, equal).getResult() : equal;
  }
  return hit;
}

// The element of the update at `batch` that belongs to `point`.
Value updated(OpBuilder& builder, Location where, tensor::ScatterOp op, ArrayRef<Value> batch, ArrayRef<Value> point) {
  const bool keeps_rank = op.getSourceType().getRank() == static_cast<int64_t>(batch.size() + point.size());
  SmallVector<Value> at(batch);
  for (const auto& [dimension, number] : llvm::enumerate(point)) {
    if (!llvm::is_contained(op.getScatterDims(), static_cast<int64_t>(dimension))) {
      at.push_back(number);
    } else if (keeps_rank) {
      at.push_back(builder.create<arith::ConstantIndexOp>(where, 0));
    }
  }
  return builder.create<tensor::ExtractOp>(where, op.getSource(), at);
}

// Upstream's loops begin their sums with a tensor without values.
void begin_sums_with_zero(ModuleOp module) {
  module.walk([](linalg::MatmulOp product) {
    OpOperand& first = product.getDpsInitsMutable()[0];
    auto empty = first.get().getDefiningOp<tensor::EmptyOp>();
    if (!empty) return;
    OpBuilder builder(product);
    const Type element = empty.getType().getElementType();
    const Value zero = builder.create<arith::ConstantOp>(product.getLoc(), builder.getZeroAttr(element));
    first.set(builder.create<linalg::FillOp>(product.getLoc(), zero, first.get()).getResult(0));
  });
}

}  // namespace

LogicalResult lower_forall(IRRewriter& rewriter, scf::ForallOp op) {
  if (op.getNumResults() == 0) return success();
  const Location where = op.getLoc();
  const auto numbers = [&](ArrayRef<OpFoldResult> each) {
    return getValueOrCreateConstantIndexOp(rewriter, where, each);
  };
  const scf::LoopNest nest = scf::buildLoopNest(
      rewriter, where, numbers(op.getMixedLowerBound()), numbers(op.getMixedUpperBound()), numbers(op.getMixedStep()),
      op.getOutputs(), [&](OpBuilder& builder, Location at, ValueRange places, ValueRange carried) {
        return write_iteration(builder, at, op, places, carried);
      });
  rewriter.replaceOp(op, nest.results);
  return success();
}

LogicalResult lower_scatter(IRRewriter& rewriter, tensor::ScatterOp op) {
  const Location where = op.getLoc();
  const RankedTensorType type = op.getDestType();
  if (!op.getUnique()) return refuse(op, "without 'unique', which says that no two updates hit the same element");
  const auto batches = static_cast<size_t>(op.getIndicesType().getRank() - 1);
  const auto index = [&](int64_t number) { return rewriter.create<arith::ConstantIndexOp>(where, number).getResult(); };
  const SmallVector<Value> begins(batches, index(0)), steps(batches, index(1));
  SmallVector<Value> ends;
  for (size_t d = 0; d < batches; ++d) {
    ends.push_back(rewriter.createOrFold<tensor::DimOp>(where, op.getIndices(), static_cast<int64_t>(d)));
  }
  const auto sizes = tensor::getMixedSizes(rewriter, where, op.getDest());
  auto made = codegen::make_by_element(
      rewriter, where, sizes, type.getElementType(), op.getDest(), [&](OpBuilder& body, Location at, ValueRange old) {
        const SmallVector<Value> point = codegen::this_element(body, at, static_cast<size_t>(type.getRank()));
        const scf::LoopNest search =
            scf::buildLoopNest(body, at, begins, ends, steps, old,
                               [&](OpBuilder& inner, Location, ValueRange batch, ValueRange found) -> scf::ValueVector {
                                 const SmallVector<Value> places(batch);
                                 const Value hit = is_hit(inner, at, op, places, point);
                                 const Value update = updated(inner, at, op, places, point);
                                 return {inner.create<arith::SelectOp>(at, hit, update, found.front())};
                               });
        return search.results.front();
      });
  Value result = made.getResult(0);
  if (result.getType() != op.getType()) result = rewriter.create<tensor::CastOp>(where, op.getType(), result);
  rewriter.replaceOp(op, result);
  return success();
}

LogicalResult lower_winograd(ModuleOp module) {
  const auto is_transform = [](Operation* op) {
    return isa<linalg::WinogradFilterTransformOp, linalg::WinogradInputTransformOp, linalg::WinogradOutputTransformOp>(
        op);
  };
  const auto find = [&](llvm::function_ref<void(Operation*)> visit) {
    module.walk([&](Operation* op) {
      if (is_transform(op)) visit(op);
    });
  };
  bool found = false;
  find([&](Operation*) { found = true; });
  if (!found) return success();
  RewritePatternSet patterns(module.getContext());
  linalg::populateDecomposeWinogradOpsPatterns(patterns);
  if (failed(codegen::rewrite_greedily(module, std::move(patterns)))) return failure();
  begin_sums_with_zero(module);
  LogicalResult result = success();
  find([&](Operation* op) { result = refuse(op, "with these sizes; a convolution by its name is"); });
  return result;
}

}  // namespace baton::compiler_lite::lower
