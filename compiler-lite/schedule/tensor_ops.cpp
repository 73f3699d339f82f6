#include "compiler-lite/schedule/tensor_ops.hpp"

#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::schedule {
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

}  // namespace

std::optional<LogicalResult> TensorOps::schedule(Operation* op) {
  mlir::Attribute value;
  if (mlir::matchPattern(op, mlir::m_Constant(&value))) return schedule_constant(op, value);
  if (auto constant = llvm::dyn_cast<util::UnfoldableConstantOp>(op)) return schedule_constant(op, constant.getValue());
  if (auto fill = llvm::dyn_cast<mlir::linalg::FillOp>(op)) return schedule_fill(fill);
  if (auto extract = llvm::dyn_cast<tensor::ExtractOp>(op)) return schedule_extract(extract);
  if (auto slice = llvm::dyn_cast<tensor::ExtractSliceOp>(op)) return schedule_extract_slice(slice);
  if (auto slice = llvm::dyn_cast<tensor::InsertSliceOp>(op)) return schedule_insert_slice(slice);
  if (llvm::isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ReshapeOp, tensor::BitcastOp>(
          op)) {
    return schedule_reshape(op);
  }
  if (auto select = llvm::dyn_cast<arith::SelectOp>(op)) return schedule_select(select);
  if (auto empty = llvm::dyn_cast<tensor::EmptyOp>(op)) return schedule_empty(empty);
  if (auto dim = llvm::dyn_cast<tensor::DimOp>(op)) return schedule_dim(dim);
  if (auto load = llvm::dyn_cast<util::GlobalLoadOp>(op)) return schedule_global_load(load);
  if (auto store = llvm::dyn_cast<util::GlobalStoreOp>(op)) return schedule_global_store(store);
  // Shapes of reshapes, whose scalars are all that is wanted; others have become kernels.
  if (llvm::isa<tensor::FromElementsOp>(op)) return success();
  if (llvm::isa<util::OptimizationBarrierOp>(op)) return schedule_optimization_barrier(op);
  if (auto transfer = llvm::dyn_cast<flow::TensorTransferOp>(op)) return schedule_transfer(transfer);
  return std::nullopt;
}

LogicalResult TensorOps::schedule_constant(Operation* op, mlir::Attribute value) {
  const auto elements = llvm::dyn_cast<mlir::DenseElementsAttr>(value);
  if (!elements) return op->emitOpError("has a value whose elements aren't known");
  const unsigned device = function_.number_of(op);
  Memory* memory = places_.make_memory("constant", device);
  memory->constant_global = function_.program.constant(elements, op->getLoc(), device);
  memory->bytes = places_.bytes_of(op->getLoc(), elements.getType(), {});
  places_.place(op->getResult(0), {memory});
  return success();
}

LogicalResult TensorOps::schedule_fill(mlir::linalg::FillOp op) {
  const Location location = op.getLoc();
  const Value result = op.getResult(0);
  const Value init = op.getDpsInits()[0];
  const RankedTensorType type = type_of(result);
  const int64_t width = element_bytes(type.getElementType());
  if (width > 8) return op.emitOpError("repeats an element of ") << width << " bytes; a fill repeats at most 8";
  Command command{.kind = Command::Kind::kFillBuffer, .location = location};
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
  const SmallVector<Value> sizes = places_.of(init).sizes;
  places_.place(result, {places_.make_pending(op, places_.bytes_of(location, type, sizes)), {}, sizes});
  command.ranges.push_back(gatherer_.range_of(result, false, true));
  gatherer_.gather(std::move(command), "fill");
  return success();
}

// Reads one element when all that writes it is done; executes what is gathered before `op` if that makes it.
Value TensorOps::load_element(Operation* op, Value tensor, mlir::ValueRange indices) {
  const Location location = op->getLoc();
  if (places_.of(tensor).memory->pending) flusher_.flush(op);
  flusher_.await(location, {tensor});
  const Place placed = places_.of(tensor);
  Value offset = places_.element_offset(location, tensor, indices);
  if (placed.offset) offset = builder_.createOrFold<arith::AddIOp>(location, placed.offset, offset);
  const mlir::Type type = type_of(tensor).getElementType();
  const int64_t width = element_bytes(type);
  const Value buffer = flusher_.whole_buffer(location, tensor);
  Value bits =
      hal_.call(builder_, location, "device.load",
                {function_.device(placed.memory->device), buffer, offset, hal_.i32(builder_, location, width)});
  if (llvm::isa<mlir::IndexType>(type)) return builder_.create<arith::IndexCastOp>(location, type, bits);
  const unsigned width_bits = type.getIntOrFloatBitWidth();
  if (width_bits < 64) bits = builder_.create<arith::TruncIOp>(location, builder_.getIntegerType(width_bits), bits);
  return bits.getType() == type ? bits : builder_.create<arith::BitcastOp>(location, type, bits).getResult();
}

LogicalResult TensorOps::schedule_extract(tensor::ExtractOp op) {
  op.replaceAllUsesWith(load_element(op, op.getTensor(), op.getIndices()));
  return success();
}

// The sizes of a shape that is a tensor, where the type leaves them open.
SmallVector<Value> TensorOps::sizes_of_shape(tensor::ReshapeOp op) {
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

LogicalResult TensorOps::schedule_extract_slice(tensor::ExtractSliceOp op) {
  // Dispatch formation has left only those whose elements lie one after the other.
  const Location location = op.getLoc();
  Place placed = places_.of(op.getSource());
  SmallVector<Value> offsets;
  for (const mlir::OpFoldResult offset : op.getMixedOffsets()) {
    offsets.push_back(mlir::getValueOrCreateConstantIndexOp(builder_, location, offset));
  }
  const Value begin = places_.element_offset(location, op.getSource(), offsets);
  placed.offset = placed.offset ? builder_.createOrFold<arith::AddIOp>(location, placed.offset, begin) : begin;
  placed.sizes.clear();
  const llvm::SmallBitVector dropped = op.getDroppedDims();
  for (unsigned i = 0; i < op.getMixedSizes().size(); ++i) {
    if (const auto size = llvm::dyn_cast<Value>(op.getMixedSizes()[i]); size && !dropped.test(i)) {
      placed.sizes.push_back(size);
    }
  }
  places_.place(op.getResult(), placed);
  return success();
}

LogicalResult TensorOps::schedule_insert_slice(tensor::InsertSliceOp op) {
  const Location location = op.getLoc();
  const Place whole = gatherer_.tie(op, op.getDest());
  SmallVector<Value> offsets;
  for (const mlir::OpFoldResult offset : op.getMixedOffsets()) {
    offsets.push_back(mlir::getValueOrCreateConstantIndexOp(builder_, location, offset));
  }
  Place part = whole;
  const Value begin = places_.element_offset(location, op.getDest(), offsets);
  part.offset = whole.offset ? builder_.createOrFold<arith::AddIOp>(location, whole.offset, begin) : begin;
  part.sizes = places_.of(op.getSource()).sizes;
  gatherer_.copy_buffer(location, op.getSource(), part);
  places_.place(op.getResult(), whole);
  return success();
}

LogicalResult TensorOps::schedule_reshape(Operation* op) {
  const Location location = op->getLoc();
  const Value result = op->getResult(0);
  const RankedTensorType type = type_of(result);
  SmallVector<Value> sizes;
  if (auto reshape = llvm::dyn_cast<tensor::ReshapeOp>(op)) {
    sizes = sizes_of_shape(reshape);
    memory_bounds_.require_same_count(reshape, sizes);
  }
  Place placed = places_.of(op->getOperand(0));
  const SmallVector<Value> before = places_.all_sizes(location, op->getOperand(0));
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
  places_.place(result, placed);
  return success();
}

LogicalResult TensorOps::schedule_select(arith::SelectOp select) {
  const Location location = select.getLoc();
  if (!select.getCondition().getType().isInteger(1)) {
    return select.emitOpError("chooses element by element, which should have become a kernel");
  }
  const Value a = select.getTrueValue(), b = select.getFalseValue();
  if (places_.of(a).memory->pending || places_.of(b).memory->pending) flusher_.flush(select);
  flusher_.await(location, {a, b});
  SmallVector<Value> from_a, from_b, chosen;
  flusher_.expand(location, a, from_a);
  flusher_.expand(location, b, from_b);
  for (const auto [x, y] : llvm::zip(from_a, from_b)) {
    chosen.push_back(builder_.create<arith::SelectOp>(location, select.getCondition(), x, y));
  }
  places_.place(select.getResult(),
                places_.external(location, select.getResult(), chosen[0], llvm::ArrayRef(chosen).drop_front()));
  return success();
}

// A global of a tensor is its buffer, and a global for each size that the type leaves open.
LogicalResult TensorOps::schedule_global_load(util::GlobalLoadOp op) {
  const Location location = op.getLoc();
  const auto load = [&](mlir::Type type, llvm::StringRef global) -> Value {
    return builder_.create<util::GlobalLoadOp>(location, type, op.getIsImmutableAttr(),
                                               mlir::FlatSymbolRefAttr::get(builder_.getContext(), global));
  };
  const Value buffer = load(hal_.buffer_type(), op.getGlobal());
  SmallVector<Value> sizes;
  for (const std::string& size : function_.program.size_globals(op.getGlobal())) {
    sizes.push_back(load(builder_.getIndexType(), size));
  }
  places_.place(op.getResult(), places_.external(location, op.getResult(), buffer, sizes));
  return success();
}

LogicalResult TensorOps::schedule_global_store(util::GlobalStoreOp op) {
  const Location location = op.getLoc();
  const Value tensor = op.getValue();
  if (places_.of(tensor).memory->pending) flusher_.flush(op);
  flusher_.await(location, {tensor});
  places_.of(tensor).memory->owned = false;
  builder_.create<util::GlobalStoreOp>(location, flusher_.exact_buffer(location, tensor), op.getGlobal());
  for (const auto& [size, global] :
       llvm::zip(places_.of(tensor).sizes, function_.program.size_globals(op.getGlobal()))) {
    builder_.create<util::GlobalStoreOp>(location, size, global);
  }
  return success();
}

LogicalResult TensorOps::schedule_empty(tensor::EmptyOp op) {
  const mlir::ValueRange sizes = op.getDynamicSizes();
  memory_bounds_.require(op, op, sizes);
  Memory* memory = places_.make_pending(op, places_.bytes_of(op.getLoc(), op.getType(), sizes));
  places_.place(op, {memory, {}, SmallVector<Value>(sizes)});
  return success();
}

LogicalResult TensorOps::schedule_dim(tensor::DimOp op) {
  const std::optional<int64_t> dimension = op.getConstantIndex();
  if (!dimension) return op.emitOpError("asks for a dimension that isn't a constant");
  op.replaceAllUsesWith(places_.all_sizes(op.getLoc(), op.getSource())[static_cast<size_t>(*dimension)]);
  return success();
}

// The tensor in memory of another device, where it comes when what makes it is done. Later work on the first device may
// write over it only then, too.
LogicalResult TensorOps::schedule_transfer(flow::TensorTransferOp op) {
  const Location location = op.getLoc();
  const Value source = op.getOperand();
  const unsigned to = function_.number_of(op.getResult());
  if (places_.of(source).memory->device == to) {
    places_.place(op.getResult(), places_.of(source));
    return success();
  }
  if (places_.of(source).memory->pending) flusher_.flush(op, places_.of(source).memory->device);
  places_.place(op.getResult(), flusher_.transfer(location, source, to));
  return success();
}

// Tensors pass; scalars beside them keep a barrier of their own.
LogicalResult TensorOps::schedule_optimization_barrier(Operation* op) {
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    if (is_tensor(op->getOperand(i))) {
      places_.place(op->getResult(i), places_.of(op->getOperand(i)));
      continue;
    }
    auto scalar = builder_.create<util::OptimizationBarrierOp>(op->getLoc(), op->getOperand(i));
    op->getResult(i).replaceAllUsesWith(scalar.getResult(0));
  }
  return success();
}

}  // namespace baton::compiler_lite::schedule
