#include "compiler-lite/constant_limit.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

// tf.aliasing_output = N on an argument, by which JAX donates a buffer: result N is tied to it, and the callee may
// write it.
void read_donations(func::FuncOp function) {
  Builder builder(function.getContext());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    const auto result = function.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output");
    if (!result || result.getInt() < 0 || result.getInt() >= function.getNumResults()) continue;
    function.removeArgAttr(i, "tf.aliasing_output");
    function.setArgAttr(i, "iree.abi.consume", builder.getUnitAttr());
    function.setResultAttr(static_cast<unsigned>(result.getInt()), "iree.abi.tied", builder.getI64IntegerAttr(i));
  }
}

// The number of the argument that iree.abi.tied on a result names, or -1.
SmallVector<int64_t> tied_operands(func::FuncOp function) {
  SmallVector<int64_t> tied;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    const auto to = function.getResultAttrOfType<IntegerAttr>(i, "iree.abi.tied");
    tied.push_back(to ? to.getInt() : -1);
  }
  return tied;
}

void convert_function(func::FuncOp function) {
  read_donations(function);
  OpBuilder builder(function);
  auto made = builder.create<util::FuncOp>(function.getLoc(), function.getSymName(), function.getFunctionType());
  for (const NamedAttribute attribute : function->getDiscardableAttrs())
    made->setAttr(attribute.getName(), attribute.getValue());
  if (function.isPrivate()) made.setPrivate();
  if (const ArrayAttr attributes = function.getArgAttrsAttr()) made.setArgAttrsAttr(attributes);
  if (const ArrayAttr attributes = function.getResAttrsAttr()) made.setResAttrsAttr(attributes);
  const SmallVector<int64_t> tied = tied_operands(function);
  if (llvm::any_of(tied, [](int64_t operand) { return operand >= 0; })) {
    made.setTiedOperandsAttr(builder.getI64ArrayAttr(tied));
  }
  made.getBody().takeBody(function.getBody());
  function.erase();
}

// One element repeated beyond the size that a program keeps of constants; its bytes need not be written down.
bool wants_fill(arith::ConstantOp constant) {
  const auto elements = dyn_cast<SplatElementsAttr>(constant.getValue());
  if (!elements || !elements.getElementType().isIntOrFloat()) return false;
  const unsigned bits = elements.getElementType().getIntOrFloatBitWidth(), bytes = (bits + 7) / 8;
  return bits <= 64 && static_cast<double>(bytes) * static_cast<double>(elements.getNumElements()) > kConstantBytesMax;
}

void convert_to_fill(arith::ConstantOp constant) {
  OpBuilder builder(constant);
  const Location location = constant.getLoc();
  const auto elements = cast<SplatElementsAttr>(constant.getValue());
  const auto type = cast<RankedTensorType>(elements.getType());
  const Value value = builder.create<arith::ConstantOp>(location, cast<TypedAttr>(elements.getSplatValue<Attribute>()));
  const Value empty = builder.create<tensor::EmptyOp>(location, type.getShape(), type.getElementType());
  auto fill = builder.create<linalg::FillOp>(location, value, empty);
  constant->replaceAllUsesWith(fill->getResults());
  constant.erase();
}

void convert_operation(Operation* op) {
  OpBuilder builder(op);
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto made = builder.create<util::CallOp>(op->getLoc(), call.getCallee(), op->getResultTypes(), op->getOperands());
    op->replaceAllUsesWith(made->getResults());
    op->erase();
  } else if (isa<func::ReturnOp>(op)) {
    builder.create<util::ReturnOp>(op->getLoc(), op->getOperands());
    op->erase();
  } else if (auto large = dyn_cast<arith::ConstantOp>(op); large && wants_fill(large)) {
    convert_to_fill(large);
  } else if (auto constant = dyn_cast<util::UnfoldableConstantOp>(op)) {
    if (!constant.getType().isIntOrIndexOrFloat()) return;
    const Value value = builder.create<arith::ConstantOp>(op->getLoc(), constant.getValue());
    op->replaceAllUsesWith(builder.create<util::OptimizationBarrierOp>(op->getLoc(), value));
    op->erase();
  }
}

// What lies in a buffer as kernels, constants and copies all count it: in a byte, or in as many bits as it has. An i24 takes
// 3 bytes in MLIR's vectors and 4 in LLVM's arrays, and an f80 10 and 16.
bool is_element(Type type) {
  if (const auto complex = dyn_cast<ComplexType>(type)) return is_element(complex.getElementType());
  if (isa<IndexType>(type)) return true;
  if (!type.isIntOrFloat()) return false;
  const unsigned bits = type.getIntOrFloatBitWidth();
  return (bits > 0 && bits < 8) || bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128;
}

bool has_odd_elements(TensorType tensor) { return !is_element(tensor.getElementType()); }

// Beyond what a process addresses on any CPU, so that products of a tensor's sizes fit 64 bits from here on.
bool is_beyond_memory(TensorType tensor) {
  if (!tensor.hasRank() || llvm::is_contained(tensor.getShape(), 0)) return false;
  uint64_t elements = 1;
  for (const int64_t size : tensor.getShape()) {
    if (!ShapedType::isDynamic(size)) elements = llvm::SaturatingMultiply(elements, static_cast<uint64_t>(size));
  }
  return elements > uint64_t{1} << 47;
}

// The first tensor among these types of which that holds.
Type find_tensor(TypeRange types, bool (*holds)(TensorType)) {
  for (const Type type : types) {
    const auto tensor = dyn_cast<TensorType>(type);
    if (tensor && holds(tensor)) return type;
  }
  return {};
}

Type find_tensor(Operation* op, bool (*holds)(TensorType)) {
  Type found = find_tensor(op->getOperandTypes(), holds);
  const auto look_in = [&](TypeRange types) { found = found ? found : find_tensor(types, holds); };
  look_in(op->getResultTypes());
  for (Region& region : op->getRegions()) {
    for (Block& block : region) look_in(TypeRange(block.getArgumentTypes()));
  }
  if (auto global = dyn_cast<util::GlobalOp>(op)) look_in(TypeRange(global.getType()));
  if (auto function = dyn_cast<FunctionOpInterface>(op)) {
    look_in(TypeRange(function.getArgumentTypes()));
    look_in(TypeRange(function.getResultTypes()));
  }
  return found;
}

LogicalResult refuse_unknown_operation(Operation* op) {
  if (op->isRegistered()) return success();
  return op->emitError() << "unknown operation '" << op->getName() << "'";
}

LogicalResult refuse_odd_elements(Operation* op) {
  if (const Type large = find_tensor(op, is_beyond_memory)) {
    return op->emitError() << op->getName() << ": " << large << " has more than 2^47 elements, which no memory holds";
  }
  const Type odd = find_tensor(op, has_odd_elements);
  if (!odd) return success();
  return op->emitError() << op->getName() << ": elements of " << odd
                         << " are no integers of 1 to 8, 16, 32, 64 or 128 bits, floats of 8 to 64 or 128 bits or "
                            "complex numbers of these";
}

LogicalResult refuse_missing_dimension(Operation* op) {
  auto dim = dyn_cast<tensor::DimOp>(op);
  const auto type = dim ? dyn_cast<RankedTensorType>(dim.getSource().getType()) : RankedTensorType();
  const std::optional<int64_t> index = type ? dim.getConstantIndex() : std::nullopt;
  if (!index || (*index >= 0 && *index < type.getRank())) return success();
  return op->emitOpError() << "asks for dimension " << *index << " of " << type << ", which has " << type.getRank();
}

}  // namespace

LogicalResult refuse_unknown_operations(ModuleOp module) {
  const WalkResult walked = module.walk([](Operation* op) {
    const bool is_good = succeeded(refuse_unknown_operation(op)) && succeeded(refuse_odd_elements(op)) &&
                         succeeded(refuse_missing_dimension(op));
    return is_good ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult functions_to_util(ModuleOp module) {
  for (Operation& op : llvm::make_early_inc_range(*module.getBody())) {
    if (auto function = dyn_cast<func::FuncOp>(op)) convert_function(function);
  }
  for (Operation& op : *module.getBody()) {
    if (!isa<util::FuncOp, util::InitializerOp>(op)) continue;
    SmallVector<Operation*> inner;
    op.walk([&](Operation* each) { inner.push_back(each); });
    for (Operation* each : inner) convert_operation(each);
  }
  return success();
}

void remove_unused_calls(ModuleOp module) {
  bool changed = true;
  while (changed) {
    changed = false;
    module.walk([&](util::CallOp call) {
      if (!call->use_empty()) return;
      auto callee = dyn_cast_or_null<util::FuncOp>(module.lookupSymbol(call.getCallee()));
      if (!callee || !callee.isExternal() || !callee->hasAttr("nosideeffects")) return;
      call.erase();
      changed = true;
    });
  }
}

}  // namespace baton::compiler_lite::lower
