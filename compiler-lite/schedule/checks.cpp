#include "compiler-lite/schedule/checks.hpp"

#include "compiler-lite/dialects/check/dialect.hpp"
#include "compiler-lite/schedule/element_numbers.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
using llvm::SmallVector;
using mlir::Location;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Value;

RankedTensorType type_of(Value tensor) { return llvm::cast<RankedTensorType>(tensor.getType()); }

}  // namespace

std::optional<LogicalResult> Checks::schedule(Operation* op) {
  if (auto check = llvm::dyn_cast<check::ExpectEqConstOp>(op)) return expect(op, check.getLhs(), check.getValue());
  if (auto check = llvm::dyn_cast<check::ExpectAlmostEqConstOp>(op)) {
    return expect(op, check.getLhs(), check.getValue());
  }
  if (!llvm::isa<check::ExpectEqOp, check::ExpectAlmostEqOp>(op)) return std::nullopt;
  const Value given = view_of(op, op->getOperand(op->getNumOperands() - 2));
  return expect(op, given, view_of(op, op->getOperand(op->getNumOperands() - 1)));
}

// A tensor that has been computed, as a view for the module `check`; null for elements that no view has.
Value Checks::view_of(Operation* user, Value tensor) {
  const Location location = user->getLoc();
  const auto number = element_type_number(type_of(tensor).getElementType());
  if (!number) return {};
  if (places_.of(tensor).memory->pending) flusher_.flush(user);
  flusher_.await(location, {tensor});
  const SmallVector<Value> placed(places_.of(tensor).sizes);
  const Value bytes = places_.bytes_of(location, tensor.getType(), placed);
  return view_of(location, flusher_.exact_buffer(location, tensor), bytes, *number,
                 places_.all_sizes(location, tensor));
}

Value Checks::view_of(Location location, Value buffer, Value bytes, int32_t number, llvm::ArrayRef<Value> sizes) {
  SmallVector<Value> operands = {buffer, hal_.index(builder_, location, 0), bytes, hal_.i32(builder_, location, number),
                                 hal_.i32(builder_, location, 1)};
  llvm::append_range(operands, sizes);
  return hal_.call(builder_, location, "buffer_view.create", operands, {static_cast<int32_t>(sizes.size())});
}

// The tensor and the constant that it should be.
LogicalResult Checks::expect(Operation* op, Value tensor, mlir::Attribute value) {
  const Location location = op->getLoc();
  const auto expected = llvm::dyn_cast<mlir::DenseElementsAttr>(value);
  const auto number = element_type_number(type_of(tensor).getElementType());
  if (!expected || !number) return op->emitOpError("compares elements that no buffer view has");
  const Value given = view_of(op, tensor);
  SmallVector<Value> sizes;
  for (const int64_t size : expected.getType().getShape()) sizes.push_back(hal_.index(builder_, location, size));
  const Value constant = builder_.create<util::GlobalLoadOp>(
      location, hal_.buffer_type(), mlir::UnitAttr(),
      mlir::FlatSymbolRefAttr::get(builder_.getContext(),
                                   function_.program.constant(expected, location, function_.number_of(tensor))));
  const Value bytes = places_.bytes_of(location, expected.getType(), {});
  return expect(op, given, view_of(location, constant, bytes, *number, sizes));
}

// Two views; the operation says how near they must be.
LogicalResult Checks::expect(Operation* op, Value given, Value wanted) {
  const Location location = op->getLoc();
  if (!given || !wanted) return op->emitOpError("compares elements that no buffer view has");
  const auto atol = op->getAttrOfType<mlir::FloatAttr>("atol");
  const auto rtol = op->getAttrOfType<mlir::FloatAttr>("rtol");
  if (!llvm::isa<check::ExpectAlmostEqConstOp, check::ExpectAlmostEqOp>(op)) {
    hal_.call(builder_, location, "check.expect_eq", {function_.device(function_.number_of(op)), given, wanted});
    return success();
  }
  const auto tolerance = [&](mlir::FloatAttr attribute, float otherwise) -> Value {
    const mlir::FloatAttr value = attribute ? attribute : builder_.getF32FloatAttr(otherwise);
    return builder_.create<arith::ConstantOp>(location, value);
  };
  hal_.call(builder_, location, "check.expect_almost_eq",
            {function_.device(function_.number_of(op)), given, wanted, tolerance(atol, 1e-4F), tolerance(rtol, 0)});
  return success();
}

}  // namespace baton::compiler_lite::schedule
