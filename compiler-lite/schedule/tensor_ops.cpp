// FunctionScheduler: operations on tensors that are no dispatches: places in memory, fills, copies, elements.
#include "compiler-lite/schedule/function_scheduler.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

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
using mlir::RankedTensorType;
using mlir::success;
using mlir::Value;

RankedTensorType type_of(Value tensor) { return llvm::cast<RankedTensorType>(tensor.getType()); }

// The dense elements of a constant.
mlir::DenseElementsAttr dense_of(mlir::Attribute value) { return llvm::dyn_cast<mlir::DenseElementsAttr>(value); }

}  // namespace

LogicalResult FunctionScheduler::schedule_constant(Operation* op, mlir::Attribute value) {
  const auto elements = dense_of(value);
  if (!elements) return op->emitOpError("has a value whose elements aren't known");
  Memory* memory = make_memory("constant");
  memory->constant_global = program_.constant(elements, op->getLoc());
  memory->bytes = bytes_of_tensor(op->getLoc(), elements.getType(), {});
  place(op->getResult(0), {memory});
  return success();
}

LogicalResult FunctionScheduler::schedule_fill(mlir::linalg::FillOp op) {
  const Location location = op.getLoc();
  const Value result = op.getResult(0);
  const Value init = op.getDpsInits()[0];
  const RankedTensorType type = type_of(result);
  const int64_t width = element_bytes(type.getElementType());
  if (width > 8) return op.emitOpError("repeats an element of ") << width << " bytes; a fill repeats at most 8";
  Command command{.kind = Command::Kind::kFill, .location = location};
  Value bits = op.getInputs()[0];
  const mlir::Type i64 = builder_.getI64Type();
  if (llvm::isa<mlir::IndexType>(bits.getType())) {
    bits = builder_.createOrFold<arith::IndexCastOp>(location, i64, bits);
  } else {
    const unsigned width_bits = bits.getType().getIntOrFloatBitWidth();
    if (llvm::isa<mlir::FloatType>(bits.getType())) {
      bits = builder_.createOrFold<arith::BitcastOp>(location, builder_.getIntegerType(width_bits), bits);
    }
    if (width_bits < 64) bits = builder_.createOrFold<arith::ExtUIOp>(location, i64, bits);
  }
  command.pattern = bits;
  command.pattern_bytes = static_cast<unsigned>(width);
  const SmallVector<Value> sizes = place_of(init).sizes;
  place(result, {make_pending(op, bytes_of_tensor(location, type, sizes)), {}, sizes});
  command.ranges.push_back(range_of(result, false, true));
  gather(std::move(command), "fill");
  return success();
}

// Reads one element when all that writes it is done; executes what is gathered before `op` if that makes it.
Value FunctionScheduler::load_element(Operation* op, Value tensor, mlir::ValueRange indices) {
  const Location location = op->getLoc();
  if (place_of(tensor).memory->pending) flush(op);
  await(location, {tensor});
  const Place placed = place_of(tensor);
  Value offset = element_offset(location, tensor, indices);
  if (placed.offset) offset = builder_.createOrFold<arith::AddIOp>(location, placed.offset, offset);
  const mlir::Type type = type_of(tensor).getElementType();
  const int64_t width = element_bytes(type);
  Value buffer = placed.memory->buffer;
  if (!buffer) buffer = exact_buffer(location, tensor);
  Value bits =
      hal_.call(builder_, location, "device.load", {device(), buffer, offset, hal_.i32(builder_, location, width)});
  if (llvm::isa<mlir::IndexType>(type)) return builder_.create<arith::IndexCastOp>(location, type, bits);
  const unsigned width_bits = type.getIntOrFloatBitWidth();
  if (width_bits < 64) bits = builder_.create<arith::TruncIOp>(location, builder_.getIntegerType(width_bits), bits);
  return bits.getType() == type ? bits : builder_.create<arith::BitcastOp>(location, type, bits).getResult();
}

LogicalResult FunctionScheduler::schedule_extract(tensor::ExtractOp op) {
  op.replaceAllUsesWith(load_element(op, op.getTensor(), op.getIndices()));
  return success();
}

// The sizes of a shape that is a tensor, where the type leaves them open.
SmallVector<Value> FunctionScheduler::sizes_of_shape(tensor::ReshapeOp op) {
  const Location location = op.getLoc();
  const RankedTensorType type = type_of(op.getResult());
  auto elements = op.getShape().getDefiningOp<tensor::FromElementsOp>();
  SmallVector<Value> sizes;
  for (unsigned i = 0; i < type.getRank(); ++i) {
    if (!type.isDynamicDim(i)) continue;
    Value size =
        elements ? elements.getElements()[i] : load_element(op, op.getShape(), {hal_.index(builder_, location, i)});
    if (!size.getType().isIndex()) {
      size = builder_.createOrFold<arith::IndexCastOp>(location, builder_.getIndexType(), size);
    }
    sizes.push_back(size);
  }
  return sizes;
}

LogicalResult FunctionScheduler::schedule_extract_slice(tensor::ExtractSliceOp op) {
  // Dispatch formation has left only those whose elements lie one after the other.
  const Location location = op.getLoc();
  Place placed = place_of(op.getSource());
  SmallVector<Value> offsets;
  for (const mlir::OpFoldResult offset : op.getMixedOffsets()) {
    offsets.push_back(mlir::getValueOrCreateConstantIndexOp(builder_, location, offset));
  }
  const Value begin = element_offset(location, op.getSource(), offsets);
  placed.offset = placed.offset ? builder_.createOrFold<arith::AddIOp>(location, placed.offset, begin) : begin;
  placed.sizes.clear();
  const llvm::SmallBitVector dropped = op.getDroppedDims();
  for (unsigned i = 0; i < op.getMixedSizes().size(); ++i) {
    if (const auto size = llvm::dyn_cast<Value>(op.getMixedSizes()[i]); size && !dropped.test(i)) {
      placed.sizes.push_back(size);
    }
  }
  place(op.getResult(), placed);
  return success();
}

LogicalResult FunctionScheduler::schedule_insert_slice(tensor::InsertSliceOp op) {
  const Location location = op.getLoc();
  const Place whole = tie(op, op.getDest());
  SmallVector<Value> offsets;
  for (const mlir::OpFoldResult offset : op.getMixedOffsets()) {
    offsets.push_back(mlir::getValueOrCreateConstantIndexOp(builder_, location, offset));
  }
  Place part = whole;
  const Value begin = element_offset(location, op.getDest(), offsets);
  part.offset = whole.offset ? builder_.createOrFold<arith::AddIOp>(location, whole.offset, begin) : begin;
  part.sizes = place_of(op.getSource()).sizes;
  Command command{.kind = Command::Kind::kCopy, .location = location};
  command.ranges.push_back(range_of(op.getSource(), true, false));
  command.ranges.push_back(range_of(location, op.getSource(), part, false, true));
  gather(std::move(command), "copy");
  place(op.getResult(), whole);
  return success();
}

LogicalResult FunctionScheduler::schedule_reshape(Operation* op) {
  const Location location = op->getLoc();
  const Value result = op->getResult(0);
  const RankedTensorType type = type_of(result);
  SmallVector<Value> sizes;
  if (auto reshape = llvm::dyn_cast<tensor::ReshapeOp>(op)) sizes = sizes_of_shape(reshape);
  Place placed = place_of(op->getOperand(0));
  const SmallVector<Value> before = all_sizes(location, op->getOperand(0));
  if (llvm::isa<tensor::CastOp, tensor::BitcastOp>(op)) {
    for (unsigned i = 0; i < type.getRank(); ++i) {
      if (type.isDynamicDim(i)) sizes.push_back(before[i]);
    }
  } else if (auto collapse = llvm::dyn_cast<tensor::CollapseShapeOp>(op)) {
    const auto groups = collapse.getReassociationIndices();
    for (unsigned i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(i)) continue;
      Value size = before[static_cast<size_t>(groups[i][0])];
      for (const int64_t other : llvm::ArrayRef(groups[i]).drop_front()) {
        size = builder_.createOrFold<arith::MulIOp>(location, size, before[static_cast<size_t>(other)]);
      }
      sizes.push_back(size);
    }
  } else if (auto expand = llvm::dyn_cast<tensor::ExpandShapeOp>(op)) {
    llvm::append_range(sizes, expand.getOutputShape());
  }
  placed.sizes = sizes;
  place(result, placed);
  return success();
}

LogicalResult FunctionScheduler::schedule_select(Operation* op) {
  auto select = llvm::cast<arith::SelectOp>(op);
  const Location location = op->getLoc();
  if (!select.getCondition().getType().isInteger(1)) {
    return op->emitOpError("chooses element by element, which should have become a kernel");
  }
  const Value a = select.getTrueValue(), b = select.getFalseValue();
  if (place_of(a).memory->pending || place_of(b).memory->pending) flush(op);
  await(location, {a, b});
  SmallVector<Value> from_a, from_b, chosen;
  expand(location, a, from_a);
  expand(location, b, from_b);
  for (const auto [x, y] : llvm::zip(from_a, from_b)) {
    chosen.push_back(builder_.create<arith::SelectOp>(location, select.getCondition(), x, y));
  }
  place(select.getResult(),
        place_external(location, select.getResult(), chosen[0], llvm::ArrayRef(chosen).drop_front()));
  return success();
}

// The tensor and what it should be, as views for the module `check`.
LogicalResult FunctionScheduler::schedule_check(Operation* op, Value tensor, mlir::Attribute value) {
  const Location location = op->getLoc();
  const auto expected = dense_of(value);
  const auto number = element_type_number(type_of(tensor).getElementType());
  if (!expected || !number) return op->emitOpError("compares elements that no buffer view has");
  if (place_of(tensor).memory->pending) flush(op);
  await(location, {tensor});
  const auto view_of = [&](Value buffer, Value bytes, llvm::ArrayRef<Value> sizes) {
    SmallVector<Value> operands = {buffer, hal_.index(builder_, location, 0), bytes,
                                   hal_.i32(builder_, location, *number), hal_.i32(builder_, location, 1)};
    llvm::append_range(operands, sizes);
    return hal_.call(builder_, location, "buffer_view.create", operands, {static_cast<int32_t>(sizes.size())});
  };
  const Place& placed = place_of(tensor);
  const Value given = view_of(exact_buffer(location, tensor), bytes_of_tensor(location, tensor.getType(), placed.sizes),
                              all_sizes(location, tensor));
  SmallVector<Value> sizes;
  for (const int64_t size : expected.getType().getShape()) sizes.push_back(hal_.index(builder_, location, size));
  const Value constant = builder_.create<util::GlobalLoadOp>(
      location, hal_.buffer_type(), mlir::UnitAttr(),
      mlir::FlatSymbolRefAttr::get(builder_.getContext(), program_.constant(expected, location)));
  const Value wanted = view_of(constant, bytes_of_tensor(location, expected.getType(), {}), sizes);
  if (auto almost = llvm::dyn_cast<check::ExpectAlmostEqConstOp>(op)) {
    const Value absolute = builder_.create<arith::ConstantOp>(location, almost.getAtolAttr());
    const Value relative = builder_.create<arith::ConstantOp>(location, almost.getRtolAttr());
    hal_.call(builder_, location, "check.expect_almost_eq", {device(), given, wanted, absolute, relative});
  } else {
    hal_.call(builder_, location, "check.expect_eq", {device(), given, wanted});
  }
  return success();
}

// A global of a tensor is its buffer, and a global for each size that the type leaves open.
LogicalResult FunctionScheduler::schedule_global_load(util::GlobalLoadOp op) {
  const Location location = op.getLoc();
  const auto load = [&](mlir::Type type, llvm::StringRef global) -> Value {
    return builder_.create<util::GlobalLoadOp>(location, type, op.getIsImmutableAttr(),
                                               mlir::FlatSymbolRefAttr::get(builder_.getContext(), global));
  };
  const Value buffer = load(hal_.buffer_type(), op.getGlobal());
  SmallVector<Value> sizes;
  for (const std::string& size : program_.size_globals(op.getGlobal())) {
    sizes.push_back(load(builder_.getIndexType(), size));
  }
  place(op.getResult(), place_external(location, op.getResult(), buffer, sizes));
  return success();
}

LogicalResult FunctionScheduler::schedule_global_store(util::GlobalStoreOp op) {
  const Location location = op.getLoc();
  const Value tensor = op.getValue();
  if (place_of(tensor).memory->pending) flush(op);
  await(location, {tensor});
  place_of(tensor).memory->owned = false;
  builder_.create<util::GlobalStoreOp>(location, exact_buffer(location, tensor), op.getGlobal());
  for (const auto& [size, global] : llvm::zip(place_of(tensor).sizes, program_.size_globals(op.getGlobal()))) {
    builder_.create<util::GlobalStoreOp>(location, size, global);
  }
  return success();
}

}  // namespace baton::compiler_lite
