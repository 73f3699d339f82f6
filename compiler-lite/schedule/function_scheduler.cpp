// The walk over a function, and who takes which operation: dispatches.cpp, tensor_ops.cpp, borders.cpp. Gathering and
// executing: flush.cpp.
#include "compiler-lite/schedule/function_scheduler.hpp"

#include "compiler-lite/schedule/tensors.hpp"
#include "llvm/ADT/PostOrderIterator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/RegionGraphTraits.h"

namespace baton::compiler_lite {
namespace {

namespace arith = mlir::arith;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::failed;
using mlir::failure;
using mlir::Location;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

}  // namespace

LogicalResult FunctionScheduler::run() {
  for (mlir::Block& block : function_.getBody()) convert_arguments(block);
  SmallVector<mlir::Type> inputs, results;
  expand_types(function_.getResultTypes(), results);
  // What dominates comes first.
  for (mlir::Block* block : llvm::ReversePostOrderTraversal<mlir::Block*>(&function_.getBody().front())) {
    SmallVector<Operation*> operations;
    for (Operation& op : *block) operations.push_back(&op);
    for (Operation* op : operations) {
      builder_.setInsertionPoint(op);
      if (failed(schedule(op))) return failure();
      done_.insert(op);
    }
  }
  for (Operation* op : llvm::reverse(dead_)) {
    op->dropAllUses();
    op->erase();
  }
  for (mlir::BlockArgument argument : llvm::reverse(dead_arguments_)) {
    argument.getOwner()->eraseArgument(argument.getArgNumber());
  }
  if (has_tensor_types(function_.getFunctionType())) {
    function_.removeArgAttrsAttr();
    function_.removeResAttrsAttr();
  }
  llvm::append_range(inputs, function_.getBody().getArgumentTypes());
  function_.setFunctionType(builder_.getFunctionType(inputs, results));
  return success();
}

LogicalResult FunctionScheduler::schedule(Operation* op) {
  if (op->getNumRegions() != 0 && contains_tensors(op) && !llvm::isa<mlir::linalg::LinalgOp>(op)) {
    return op->emitOpError("holds operations on tensors, which can't be scheduled inside of it");
  }
  if (op->hasTrait<mlir::OpTrait::IsTerminator>()) {
    return llvm::isa<util::ReturnOp>(op) ? schedule_return(op) : schedule_branch(op);
  }
  if (auto call = llvm::dyn_cast<util::CallOp>(op)) return has_tensors(op) ? schedule_call(call) : success();
  if (has_tensors(op)) return schedule_tensor_op(op);
  if (llvm::isa_and_nonnull<hal::HalDialect, check::CheckDialect>(op->getDialect())) return schedule_hal(op);
  return success();
}

LogicalResult FunctionScheduler::schedule_tensor_op(Operation* op) {
  dead_.push_back(op);
  mlir::Attribute value;
  if (mlir::matchPattern(op, mlir::m_Constant(&value))) return schedule_constant(op, value);
  if (auto constant = llvm::dyn_cast<util::UnfoldableConstantOp>(op)) return schedule_constant(op, constant.getValue());
  if (auto import = llvm::dyn_cast<hal::TensorImportOp>(op)) return schedule_import(import);
  if (auto exported = llvm::dyn_cast<hal::TensorExportOp>(op)) return schedule_export(exported);
  if (auto barrier = llvm::dyn_cast<hal::TensorBarrierOp>(op)) return schedule_barrier(barrier);
  if (auto alias = llvm::dyn_cast<hal::TensorAliasOp>(op)) return schedule_alias(alias);
  if (auto dispatch = llvm::dyn_cast<flow::DispatchOp>(op)) return schedule_dispatch(dispatch);
  if (auto call = llvm::dyn_cast<flow::CallOp>(op)) return schedule_custom(call);
  if (auto fill = llvm::dyn_cast<mlir::linalg::FillOp>(op)) return schedule_fill(fill);
  if (auto extract = llvm::dyn_cast<tensor::ExtractOp>(op)) return schedule_extract(extract);
  if (auto slice = llvm::dyn_cast<tensor::ExtractSliceOp>(op)) return schedule_extract_slice(slice);
  if (auto slice = llvm::dyn_cast<tensor::InsertSliceOp>(op)) return schedule_insert_slice(slice);
  if (llvm::isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ReshapeOp, tensor::BitcastOp>(
          op)) {
    return schedule_reshape(op);
  }
  if (llvm::isa<arith::SelectOp>(op)) return schedule_select(op);
  if (auto check = llvm::dyn_cast<check::ExpectEqConstOp>(op))
    return schedule_check(op, check.getLhs(), check.getValue());
  if (auto check = llvm::dyn_cast<check::ExpectAlmostEqConstOp>(op)) {
    return schedule_check(op, check.getLhs(), check.getValue());
  }
  if (auto empty = llvm::dyn_cast<tensor::EmptyOp>(op)) {
    Memory* memory = make_pending(op, bytes_of_tensor(op->getLoc(), empty.getType(), empty.getDynamicSizes()));
    place(empty, {memory, {}, SmallVector<Value>(empty.getDynamicSizes())});
    return success();
  }
  if (auto dim = llvm::dyn_cast<tensor::DimOp>(op)) {
    const std::optional<int64_t> dimension = dim.getConstantIndex();
    if (!dimension) return op->emitOpError("asks for a dimension that isn't a constant");
    dim.replaceAllUsesWith(all_sizes(op->getLoc(), dim.getSource())[static_cast<size_t>(*dimension)]);
    return success();
  }
  if (auto load = llvm::dyn_cast<util::GlobalLoadOp>(op)) return schedule_global_load(load);
  if (auto store = llvm::dyn_cast<util::GlobalStoreOp>(op)) return schedule_global_store(store);
  // Shapes of reshapes, whose scalars are all that is wanted; others have become kernels.
  if (llvm::isa<tensor::FromElementsOp>(op)) return success();
  if (llvm::isa<util::OptimizationBarrierOp>(op)) {
    // Tensors pass; scalars beside them keep a barrier of their own.
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      if (is_tensor(op->getOperand(i))) {
        place(op->getResult(i), place_of(op->getOperand(i)));
        continue;
      }
      auto scalar = builder_.create<util::OptimizationBarrierOp>(op->getLoc(), op->getOperand(i));
      op->getResult(i).replaceAllUsesWith(scalar.getResult(0));
    }
    return success();
  }
  return op->emitOpError(
      "on tensors can't be scheduled; arith, math, linalg, tensor, flow and hal are what is supported");
}

LogicalResult FunctionScheduler::schedule_hal(Operation* op) {
  const Location location = op->getLoc();
  Value result;
  if (auto barrier = llvm::dyn_cast<hal::TensorBarrierOp>(op)) {
    if (failed(schedule_barrier(barrier))) return failure();
  } else if (auto dim = llvm::dyn_cast<hal::BufferViewDimOp>(op)) {
    const int64_t number = dim.getDimensionAttr().getInt();
    result =
        hal_.call(builder_, location, "buffer_view.dim", {dim.getBufferView(), hal_.i32(builder_, location, number)});
  } else if (auto query = llvm::dyn_cast<hal::DeviceQueryOp>(op)) {
    op->replaceAllUsesWith(schedule_query(query));
    dead_.push_back(op);
    return success();
  } else if (llvm::isa<hal::FenceCreateOp>(op)) {
    result = hal_.call(builder_, location, "fence.create", {device()});
  } else if (auto wait = llvm::dyn_cast<hal::FenceAwaitOp>(op)) {
    SmallVector<Value> operands = {wait.getTimeoutMillis()};
    llvm::append_range(operands, wait.getFences());
    result = hal_.call(builder_, location, "fence.await", operands, {static_cast<int32_t>(wait.getFences().size())});
  } else if (auto signal = llvm::dyn_cast<hal::FenceSignalOp>(op)) {
    hal_.call(builder_, location, "fence.signal", {signal.getFence()});
  } else if (auto fail = llvm::dyn_cast<hal::FenceFailOp>(op)) {
    hal_.call(builder_, location, "fence.fail",
              {fail.getFence(), fail.getStatus(), hal_.bytes(builder_, location, "failed by the program")});
  } else if (auto joined = llvm::dyn_cast<hal::FenceJoinOp>(op)) {
    result = hal_.call(builder_, location, "fence.join", joined.getFences(),
                       {static_cast<int32_t>(joined.getFences().size())});
  } else if (auto expect_true = llvm::dyn_cast<check::ExpectTrueOp>(op)) {
    hal_.call(builder_, location, "check.expect_true", {expect_true.getOperand()});
  } else if (auto expect_false = llvm::dyn_cast<check::ExpectFalseOp>(op)) {
    hal_.call(builder_, location, "check.expect_false", {expect_false.getOperand()});
  } else {
    return success();
  }
  if (result) op->getResult(0).replaceAllUsesWith(result);
  dead_.push_back(op);
  return success();
}

// The module `hal` answers with a number of 64 bits.
SmallVector<Value> FunctionScheduler::schedule_query(hal::DeviceQueryOp op) {
  const Location location = op.getLoc();
  const Value answer = hal_.call(
      builder_, location, "device.query",
      {op.getDevice(), hal_.bytes(builder_, location, op.getCategory()), hal_.bytes(builder_, location, op.getKey())});
  const Value known =
      builder_.create<arith::CmpIOp>(location, arith::CmpIPredicate::ne, answer, hal_.i32(builder_, location, 0));
  Value value = answer.getDefiningOp()->getResult(1);
  const mlir::Type type = op.getValue().getType();
  if (!type.isIndex()) {
    value = builder_.create<arith::IndexCastOp>(location, builder_.getI64Type(), value);
    if (type.isInteger(1)) {
      value = builder_.create<arith::CmpIOp>(location, arith::CmpIPredicate::ne, value,
                                             builder_.create<arith::ConstantIntOp>(location, 0, 64));
    } else if (type != value.getType()) {
      value = builder_.create<arith::TruncIOp>(location, type, value);
    }
  }
  if (const mlir::TypedAttr otherwise = op.getDefaultValueAttr()) {
    value = builder_.create<arith::SelectOp>(location, known, value,
                                             builder_.create<arith::ConstantOp>(location, otherwise));
  }
  return {known, value};
}

}  // namespace baton::compiler_lite
