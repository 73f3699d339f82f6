#include "compiler-lite/dialects/tm_tensor/dialect.hpp"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;  // NOLINT: the generated code speaks MLIR.

#include "compiler-lite/dialects/tm_tensor/tm_tensor.dialect.cpp.inc"

namespace baton::compiler_lite::tm_tensor {

void TmTensorDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler-lite/dialects/tm_tensor/tm_tensor.ops.cpp.inc"
      >();
}

namespace {

RankedTensorType type_of(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

// The region takes scalars of these types and yields one of that type.
LogicalResult verify_region(Operation* op, ArrayRef<Type> arguments, Type yielded) {
  Block& block = op->getRegion(0).front();
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield) return op->emitOpError() << "has a region that does not end with tm_tensor.yield";
  if (block.getArgumentTypes() != TypeRange(arguments)) {
    return op->emitOpError() << "has a region that takes other scalars than elements of its tensors";
  }
  if (yield.getValues().getTypes() != TypeRange(yielded)) {
    return op->emitOpError() << "has a region that does not yield one " << yielded;
  }
  return success();
}

LogicalResult verify_counts(Operation* op, OperandRange inputs, size_t wanted, OperandRange outputs) {
  if (inputs.size() != wanted) return op->emitOpError() << "takes " << wanted << " inputs";
  if (outputs.getTypes() != op->getResultTypes()) return op->emitOpError() << "has results of other types than outs";
  return success();
}

LogicalResult verify_dimension(Operation* op, int64_t dimension, RankedTensorType type) {
  if (dimension >= 0 && dimension < type.getRank()) return success();
  return op->emitOpError() << "names dimension " << dimension << " of " << type;
}

}  // namespace

LogicalResult ScanOp::verify() {
  if (failed(verify_counts(*this, getInputs(), 1, getOutputs()))) return failure();
  if (getOutputs().size() != 2) return emitOpError() << "takes two outs, the result and the accumulator";
  const RankedTensorType in = type_of(getInputs()[0]), out = type_of(getOutputs()[0]);
  if (failed(verify_dimension(*this, static_cast<int64_t>(getDimension()), in))) return failure();
  SmallVector<int64_t> row(in.getShape());
  row.erase(row.begin() + static_cast<int64_t>(getDimension()));
  if (in != out || type_of(getOutputs()[1]) != RankedTensorType::get(row, in.getElementType())) {
    return emitOpError() << "takes a result like its input, and an accumulator without the dimension";
  }
  return verify_region(*this, {in.getElementType(), in.getElementType()}, in.getElementType());
}

LogicalResult ScatterOp::verify() {
  if (failed(verify_counts(*this, getInputs(), 2, getOutputs()))) return failure();
  if (getOutputs().size() != 1) return emitOpError() << "takes one out";
  const RankedTensorType updates = type_of(getInputs()[0]), indices = type_of(getInputs()[1]),
                         out = type_of(getOutputs()[0]);
  const ArrayRef<int64_t> map = getDimensionMap();
  const bool is_list = indices.getRank() == 2 && indices.getDimSize(1) == static_cast<int64_t>(map.size()) &&
                       isa<IntegerType, IndexType>(indices.getElementType());
  if (!is_list) return emitOpError() << "takes indices of two dimensions, the last as long as dimension_map";
  for (const int64_t dimension : map) {
    if (failed(verify_dimension(*this, dimension, out))) return failure();
  }
  if (updates.getRank() < 1 || updates.getRank() > out.getRank() + 1 ||
      out.getRank() + 1 - updates.getRank() > static_cast<int64_t>(map.size())) {
    return emitOpError() << "takes updates of another rank";
  }
  return verify_region(*this, {updates.getElementType(), out.getElementType()}, out.getElementType());
}

LogicalResult SortOp::verify() {
  if (failed(verify_counts(*this, getInputs(), 0, getOutputs()))) return failure();
  if (getOutputs().empty()) return emitOpError() << "takes an out";
  SmallVector<Type> pairs;
  for (const Value each : getOutputs()) {
    if (type_of(each).getShape() != type_of(getOutputs()[0]).getShape()) {
      return emitOpError() << "takes outs of one shape";
    }
    pairs.append(2, type_of(each).getElementType());
  }
  if (failed(verify_dimension(*this, static_cast<int64_t>(getDimension()), type_of(getOutputs()[0])))) return failure();
  return verify_region(*this, pairs, IntegerType::get(getContext(), 1));
}

}  // namespace baton::compiler_lite::tm_tensor

#define GET_OP_CLASSES
#include "compiler-lite/dialects/tm_tensor/tm_tensor.ops.cpp.inc"
