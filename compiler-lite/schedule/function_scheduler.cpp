// The walk over a function, and what each operation becomes. Gathering and executing: flush.cpp.
#include "compiler-lite/schedule/function_scheduler.hpp"

#include "compiler-lite/schedule/tensors.hpp"
#include "compiler-lite/schedule/words.hpp"
#include "llvm/ADT/PostOrderIterator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/IRMapping.h"
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
using mlir::RankedTensorType;
using mlir::success;
using mlir::Value;

RankedTensorType type_of(Value tensor) { return llvm::cast<RankedTensorType>(tensor.getType()); }

int64_t tied_operand(mlir::ArrayAttr ties, unsigned result) {
  if (!ties || result >= ties.size()) return -1;
  return llvm::cast<mlir::IntegerAttr>(ties[result]).getInt();
}

// The dense elements of a constant.
mlir::DenseElementsAttr dense_of(mlir::Attribute value) { return llvm::dyn_cast<mlir::DenseElementsAttr>(value); }

}  // namespace

std::optional<int32_t> element_type_number(mlir::Type type) {
  // Class and bits, hal/element_type.hpp.
  constexpr int32_t kInteger = 1, kSigned = 2, kUnsigned = 3, kFloat = 4, kBrainFloat = 5, kComplex = 6;
  if (llvm::isa<mlir::IndexType>(type)) return kInteger << 8 | 64;
  if (const auto complex = llvm::dyn_cast<mlir::ComplexType>(type)) {
    return kComplex << 8 | static_cast<int32_t>(2 * complex.getElementType().getIntOrFloatBitWidth());
  }
  if (!type.isIntOrFloat()) return std::nullopt;
  const auto bits = static_cast<int32_t>(type.getIntOrFloatBitWidth());
  if (bits != 1 && bits != 8 && bits != 16 && bits != 32 && bits != 64) return std::nullopt;
  if (type.isBF16()) return kBrainFloat << 8 | bits;
  if (type.isF16() || type.isF32() || type.isF64()) return kFloat << 8 | bits;
  if (llvm::isa<mlir::FloatType>(type)) return std::nullopt;
  return (type.isSignedInteger() ? kSigned : type.isUnsignedInteger() ? kUnsigned : kInteger) << 8 | bits;
}

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
  if (auto load = llvm::dyn_cast<util::GlobalLoadOp>(op)) {
    const Value buffer = builder_.create<util::GlobalLoadOp>(op->getLoc(), hal_.buffer_type(),
                                                             load.getIsImmutableAttr(), load.getGlobalAttr());
    place(load, place_external(op->getLoc(), load, buffer, {}));
    return success();
  }
  if (auto store = llvm::dyn_cast<util::GlobalStoreOp>(op)) {
    if (place_of(store.getValue()).memory->pending) flush(op);
    await(op->getLoc(), {store.getValue()});
    place_of(store.getValue()).memory->owned = false;
    builder_.create<util::GlobalStoreOp>(op->getLoc(), exact_buffer(op->getLoc(), store.getValue()), store.getGlobal());
    return success();
  }
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

LogicalResult FunctionScheduler::schedule_constant(Operation* op, mlir::Attribute value) {
  const auto elements = dense_of(value);
  if (!elements) return op->emitOpError("has a value whose elements aren't known");
  Memory* memory = make_memory("constant");
  memory->constant_global = program_.constant(elements, op->getLoc());
  memory->bytes = bytes_of_tensor(op->getLoc(), elements.getType(), {});
  place(op->getResult(0), {memory});
  return success();
}

LogicalResult FunctionScheduler::schedule_import(hal::TensorImportOp op) {
  const Location location = op.getLoc();
  const RankedTensorType type = type_of(op.getTarget());
  Value buffer = op.getSource();
  if (llvm::isa<hal::BufferViewType>(buffer.getType())) {
    const mlir::Type seen = op.getTargetEncoding() ? *op.getTargetEncoding() : mlir::Type(type);
    const auto tensor = llvm::dyn_cast<RankedTensorType>(seen);
    const auto number = element_type_number(tensor ? tensor.getElementType() : seen);
    if (!number) return op.emitOpError("imports elements that no buffer view has: ") << seen;
    SmallVector<Value> operands = {op.getSource(), hal_.bytes(builder_, location, op.getName().value_or("tensor")),
                                   hal_.i32(builder_, location, *number), hal_.i32(builder_, location, 1)};
    unsigned dynamic = 0;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(static_cast<unsigned>(i))) {
        operands.push_back(hal_.index(builder_, location, type.getDimSize(static_cast<unsigned>(i))));
        continue;
      }
      // A size that the view itself says needs no check.
      const Value size = op.getTargetDims()[dynamic++];
      auto asked = size.getDefiningOp<util::CallOp>();
      const bool of_view = asked && asked.getCallee() == "hal.buffer_view.dim" && asked.getOperand(0) == op.getSource();
      operands.push_back(of_view ? hal_.index(builder_, location, -1) : size);
    }
    hal_.call(builder_, location, "buffer_view.assert", operands, {static_cast<int32_t>(type.getRank())});
    buffer = hal_.call(builder_, location, "buffer_view.buffer", {op.getSource()});
  }
  Place placed = place_external(location, op.getTarget(), buffer, SmallVector<Value>(op.getTargetDims()));
  placed.memory->fence = op.getWaitFence();
  placed.memory->owned = op.getConsume();
  placed.memory->name = op.getName().value_or("input").str();
  placed.offset = op.getOffset();
  if (placed.offset) placed.memory->bytes = {};
  place(op.getTarget(), placed);
  return success();
}

LogicalResult FunctionScheduler::schedule_export(hal::TensorExportOp op) {
  const Location location = op.getLoc();
  const Value source = op.getSource();
  if (place_of(source).memory->pending) flush(op);
  await(location, {source});
  const Place placed = place_of(source);
  placed.memory->owned = false;
  if (llvm::isa<hal::BufferType>(op.getTarget().getType())) {
    op.getTarget().replaceAllUsesWith(exact_buffer(location, source));
    return success();
  }
  const mlir::Type seen = op.getSourceEncoding() ? *op.getSourceEncoding() : source.getType();
  const auto tensor = llvm::dyn_cast<RankedTensorType>(seen);
  const auto number = element_type_number(tensor ? tensor.getElementType() : seen);
  if (!number) return op.emitOpError("exports elements that no buffer view has: ") << seen;
  const Value buffer = exact_buffer(location, source);
  SmallVector<Value> operands = {buffer, hal_.index(builder_, location, 0),
                                 bytes_of_tensor(location, source.getType(), placed.sizes),
                                 hal_.i32(builder_, location, *number), hal_.i32(builder_, location, 1)};
  const SmallVector<Value> sizes = all_sizes(location, source);
  llvm::append_range(operands, sizes);
  const Value view =
      hal_.call(builder_, location, "buffer_view.create", operands, {static_cast<int32_t>(sizes.size())});
  op.getTarget().replaceAllUsesWith(view);
  return success();
}

LogicalResult FunctionScheduler::schedule_barrier(hal::TensorBarrierOp op) {
  const Location location = op.getLoc();
  for (const Value source : op.getSources()) {
    const Memory& memory = *place_of(source).memory;
    if (memory.pending && memory.storage < 0) exact_buffer(location, source);  // No command makes it.
  }
  // Without tensors it is for everything that was begun.
  const bool any_pending =
      op.getSources().empty()
          ? !gathered_.commands.empty()
          : llvm::any_of(op.getSources(), [&](Value source) { return place_of(source).memory->pending; });
  // The recording may tell the fence itself when nothing else is waited for.
  bool all_gathered = any_pending;
  for (const Value source : op.getSources()) {
    const Memory& memory = *place_of(source).memory;
    all_gathered &= memory.pending || !memory.fence;
  }
  if (any_pending) flush(op, all_gathered ? op.getSignalFence() : Value());
  if (!all_gathered) {
    SmallVector<Value> fences;
    for (const Value source : op.getSources()) fences.push_back(place_of(source).memory->fence);
    const Value wait = join(location, fences);
    hal_.call(builder_, location, "queue.barrier", {device(), wait, op.getSignalFence()});
  }
  // Whoever gets the results waits for the fence; here they count as ready.
  for (const auto [source, result] : llvm::zip(op.getSources(), op.getResults())) {
    Place placed = place_of(source);
    Memory* ready = make_memory(placed.memory->name);
    ready->buffer = placed.memory->buffer;
    ready->bytes = placed.memory->bytes;
    ready->constant_global = placed.memory->constant_global;
    placed.memory = ready;
    place(result, placed);
  }
  return success();
}

LogicalResult FunctionScheduler::grid_of(flow::DispatchOp op, const EntryPoint& entry, Command& command) {
  const Location location = op.getLoc();
  if (entry.kernel) return success();  // With the constants.
  const bool has_region = entry.workgroup_count && !entry.workgroup_count->empty();
  if (!has_region) {
    if (op.getWorkload().size() > 3) {
      return op.emitOpError("has a workload of ") << op.getWorkload().size() << ", and its export has no region that "
                                                  << "makes a grid of three of it";
    }
    llvm::append_range(command.grid, op.getWorkload());
    while (command.grid.size() < 3) command.grid.push_back(hal_.index(builder_, location, 1));
    return success();
  }
  mlir::Block& body = entry.workgroup_count->front();
  mlir::IRMapping values;
  unsigned next = 0;
  for (const mlir::BlockArgument argument : body.getArguments()) {
    const bool is_device = llvm::isa<hal::DeviceType>(argument.getType());
    if (!is_device && next >= op.getWorkload().size()) {
      return op.emitOpError("gives ") << op.getWorkload().size() << " workload values, and its export takes more";
    }
    values.map(argument, is_device ? device() : op.getWorkload()[next++]);
  }
  for (Operation& inner : body.without_terminator()) {
    Operation* clone = builder_.clone(inner, values);
    SmallVector<Value> folded;
    if (failed(builder_.tryFold(clone, folded)) || folded.size() != clone->getNumResults()) continue;
    for (const auto [from, to] : llvm::zip(inner.getResults(), folded)) values.map(from, to);
    clone->erase();
  }
  for (const Value size : body.getTerminator()->getOperands()) command.grid.push_back(values.lookupOrDefault(size));
  return success();
}

LogicalResult FunctionScheduler::constants_of(flow::DispatchOp op, const EntryPoint& entry, Command& command) {
  const Location location = op.getLoc();
  if (entry.kernel) {
    SmallVector<SmallVector<Value>> result_sizes;
    unsigned first = 0;
    for (const Value result : op.getResults()) {
      const unsigned count = static_cast<unsigned>(type_of(result).getNumDynamicDims());
      result_sizes.emplace_back(op.getResultDims().slice(first, count));
      first += count;
    }
    const auto value_of = [&](const codegen::KernelConstant& constant) -> Value {
      using Source = codegen::KernelConstant::Source;
      if (constant.source == Source::kArgument) return op.getArguments()[constant.index];
      const bool of_argument = constant.source == Source::kArgumentSize;
      const Value tensor = of_argument ? op.getArguments()[constant.index] : op.getResult(constant.index);
      const unsigned position = type_of(tensor).getDynamicDimIndex(constant.dimension);
      return of_argument ? place_of(tensor).sizes[position] : result_sizes[constant.index][position];
    };
    command.constants = codegen::pack_constants(builder_, location, *entry.kernel, value_of);
    command.grid = codegen::build_grid(builder_, location, *entry.kernel, value_of);
    if (entry.block_kernel) command.block_grid = codegen::build_grid(builder_, location, *entry.block_kernel, value_of);
    return success();
  }
  for (const Value argument : op.getArguments()) {
    if (is_tensor(argument)) continue;
    if (word_count(argument.getType()) == 0) {
      return op.emitOpError("passes a ") << argument.getType() << ", which can't travel in the words of a dispatch";
    }
    llvm::append_range(command.constants, pack_words(builder_, location, argument));
  }
  if (!entry.layout) return success();
  if (static_cast<int64_t>(command.constants.size()) != entry.layout.getConstants()) {
    return op.emitOpError("passes ") << command.constants.size() << " words, and the layout of '" << entry.name
                                     << "' has " << entry.layout.getConstants();
  }
  return success();
}

template <typename Op>
FunctionScheduler::Ties FunctionScheduler::ties_of(Op op) {
  Ties ties;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    const int64_t operand = tied_operand(op.getTiedOperandsAttr(), i);
    if (operand < 0) continue;
    const auto number = static_cast<unsigned>(operand);
    ties.try_emplace(number, tie(op, op.getArguments()[number]));
  }
  return ties;
}

template <typename Op, typename AddRange>
LogicalResult FunctionScheduler::place_results(Op op, llvm::StringRef giver, const Ties& ties, AddRange&& add_range) {
  unsigned first_size = 0;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    const Value result = op.getResult(i);
    if (!is_tensor(result)) return op.emitOpError("gives a ") << result.getType() << "; " << giver << " gives tensors";
    const unsigned size_count = static_cast<unsigned>(type_of(result).getNumDynamicDims());
    const SmallVector<Value> sizes(op.getResultDims().slice(first_size, size_count));
    first_size += size_count;
    const int64_t operand = tied_operand(op.getTiedOperandsAttr(), i);
    if (operand >= 0) {
      Place continued = ties.find(static_cast<unsigned>(operand))->second;
      continued.sizes = sizes;
      place(result, continued);
      continue;
    }
    place(result, {make_pending(op, bytes_of_tensor(op.getLoc(), result.getType(), sizes)), {}, sizes});
    add_range(range_of(result, false, true));
  }
  return success();
}

LogicalResult FunctionScheduler::schedule_dispatch(flow::DispatchOp op) {
  const Location location = op.getLoc();
  const auto symbol = llvm::cast<mlir::SymbolRefAttr>(op.getEntryPoints()[0]);
  const EntryPoint* entry = program_.executables().find(symbol);
  if (!entry) return op.emitOpError("names ") << symbol << ", which no executable exports";
  Command command{.kind = Command::Kind::kDispatch, .location = location};
  command.entry_point = entry;
  if (failed(grid_of(op, *entry, command)) || failed(constants_of(op, *entry, command))) return failure();

  const Ties ties = ties_of(op);
  const auto is_read_only = [&](size_t binding) {
    return entry->layout && binding < entry->layout.getBindings().size() &&
           entry->layout.getBindings()[binding].getReadOnly();
  };
  for (unsigned i = 0; i < op.getArguments().size(); ++i) {
    const Value argument = op.getArguments()[i];
    if (!is_tensor(argument)) continue;
    const auto tied = ties.find(i);
    if (tied == ties.end()) {
      command.ranges.push_back(range_of(argument, true, false));
    } else {
      if (is_read_only(command.ranges.size())) {
        return op.emitOpError("ties a result to binding ")
               << command.ranges.size() << " of '" << entry->name << "', which its layout calls ReadOnly";
      }
      command.ranges.push_back(range_of(location, argument, tied->second, true, true));
    }
  }
  const auto add_range = [&](Range range) { command.ranges.push_back(range); };
  if (failed(place_results(op, "a kernel", ties, add_range))) return failure();
  if (entry->layout && entry->layout.getBindings().size() != command.ranges.size()) {
    return op.emitOpError("passes ") << command.ranges.size() << " tensors, and the layout of '" << entry->name
                                     << "' has " << entry->layout.getBindings().size() << " bindings";
  }
  gather(std::move(command), "dispatch " + entry->name);
  return success();
}

LogicalResult FunctionScheduler::schedule_custom(flow::CallOp op) {
  Command command{.kind = Command::Kind::kCustom, .location = op.getLoc()};
  command.callee = op.getCallee().str();
  const Ties ties = ties_of(op);
  const auto add_range = [&](Range range) {
    command.operands.push_back({{}, static_cast<unsigned>(command.ranges.size())});
    command.ranges.push_back(range);
  };
  for (unsigned i = 0; i < op.getArguments().size(); ++i) {
    const Value argument = op.getArguments()[i];
    if (!is_tensor(argument)) {
      command.operands.push_back({argument, 0});
    } else if (const auto tied = ties.find(i); tied != ties.end()) {
      add_range(range_of(op.getLoc(), argument, tied->second, true, true));
    } else {
      add_range(range_of(argument, true, false));
    }
  }
  if (failed(place_results(op, "a custom command", ties, add_range))) return failure();
  gather(std::move(command), "custom " + op.getCallee().str());
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

LogicalResult FunctionScheduler::schedule_extract(tensor::ExtractOp op) {
  const Location location = op.getLoc();
  if (place_of(op.getTensor()).memory->pending) flush(op);
  await(location, {op.getTensor()});
  const Place placed = place_of(op.getTensor());
  Value offset = element_offset(location, op.getTensor(), op.getIndices());
  if (placed.offset) offset = builder_.createOrFold<arith::AddIOp>(location, placed.offset, offset);
  const mlir::Type type = op.getType();
  const int64_t width = element_bytes(type);
  Value buffer = placed.memory->buffer;
  if (!buffer) buffer = exact_buffer(location, op.getTensor());
  Value bits = hal_.call(builder_, location, "buffer.load", {buffer, offset, hal_.i32(builder_, location, width)});
  Value element;
  if (llvm::isa<mlir::IndexType>(type)) {
    element = builder_.create<arith::IndexCastOp>(location, type, bits);
  } else {
    const unsigned width_bits = type.getIntOrFloatBitWidth();
    if (width_bits < 64) bits = builder_.create<arith::TruncIOp>(location, builder_.getIntegerType(width_bits), bits);
    element = bits.getType() == type ? bits : builder_.create<arith::BitcastOp>(location, type, bits).getResult();
  }
  op.replaceAllUsesWith(element);
  return success();
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
  Place placed = place_of(op->getOperand(0));
  SmallVector<Value> sizes;
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
  } else {
    return op->emitOpError("takes its shape from a tensor, which can't be scheduled yet");
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

LogicalResult FunctionScheduler::schedule_hal(Operation* op) {
  const Location location = op->getLoc();
  Value result;
  if (auto barrier = llvm::dyn_cast<hal::TensorBarrierOp>(op)) {
    if (failed(schedule_barrier(barrier))) return failure();
  } else if (auto dim = llvm::dyn_cast<hal::BufferViewDimOp>(op)) {
    const int64_t number = dim.getDimensionAttr().getInt();
    result =
        hal_.call(builder_, location, "buffer_view.dim", {dim.getBufferView(), hal_.i32(builder_, location, number)});
  } else if (llvm::isa<hal::FenceCreateOp>(op)) {
    result = hal_.call(builder_, location, "fence.create", {device()});
  } else if (auto wait = llvm::dyn_cast<hal::FenceAwaitOp>(op)) {
    SmallVector<Value> operands = {wait.getTimeoutMillis()};
    llvm::append_range(operands, wait.getFences());
    result = hal_.call(builder_, location, "fence.await", operands, {static_cast<int32_t>(wait.getFences().size())});
  } else if (auto signal = llvm::dyn_cast<hal::FenceSignalOp>(op)) {
    hal_.call(builder_, location, "fence.signal", {signal.getFence()});
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

// Borders of functions and blocks ----------------------------------------------------------------------------------

LogicalResult FunctionScheduler::schedule_call(util::CallOp op) {
  const Location location = op.getLoc();
  dead_.push_back(op);
  auto callee = program_.module().lookupSymbol<util::FuncOp>(op.getCallee());
  if (!callee || callee.isExternal()) {
    return op.emitOpError("passes tensors to @") << op.getCallee() << ", which has no body and no wrapper";
  }
  flush(op);
  SmallVector<Value> tensors(llvm::make_filter_range(op.getOperands(), [](Value value) { return is_tensor(value); }));
  await(location, tensors);
  SmallVector<Value> operands;
  expand(location, op.getOperands(), operands);
  SmallVector<mlir::Type> types;
  expand_types(op.getResultTypes(), types);
  auto call = builder_.create<util::CallOp>(location, op.getCallee(), types, operands);
  unsigned next = 0;
  for (Value result : op.getResults()) {
    if (!is_tensor(result)) {
      result.replaceAllUsesWith(call.getResult(next++));
      continue;
    }
    const Value buffer = call.getResult(next++);
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < type_of(result).getNumDynamicDims(); ++i) sizes.push_back(call.getResult(next++));
    place(result, place_external(location, result, buffer, sizes));
  }
  return success();
}

LogicalResult FunctionScheduler::schedule_return(Operation* op) {
  flush(op);
  if (!has_tensors(op)) return success();
  SmallVector<Value> tensors(llvm::make_filter_range(op->getOperands(), [](Value value) { return is_tensor(value); }));
  await(op->getLoc(), tensors);
  SmallVector<Value> operands;
  expand(op->getLoc(), op->getOperands(), operands);
  op->setOperands(operands);
  return success();
}

LogicalResult FunctionScheduler::schedule_branch(Operation* op) {
  flush(op);
  // Other blocks don't know the fences of this one.
  for (const std::unique_ptr<Memory>& memory : memories_) {
    if (memory->fence && memory->buffer && used_later(*memory)) await(op->getLoc(), memory->tensors.front());
  }
  auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(op);
  for (unsigned i = 0; branch && i < op->getNumSuccessors(); ++i) {
    mlir::SuccessorOperands forwarded = branch.getSuccessorOperands(i);
    const SmallVector<Value> before(forwarded.getForwardedOperands());
    if (!llvm::any_of(before, [](Value value) { return is_tensor(value); })) continue;
    SmallVector<Value> operands;
    expand(op->getLoc(), before, operands);
    forwarded.getMutableForwardedOperands().assign(operands);
  }
  return success();
}

}  // namespace baton::compiler_lite
