#include "compiler-lite/codegen/widen_sums.hpp"

#include "compiler-lite/codegen/by_element.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

bool is_small_float(mlir::Type type) { return type.isF16() || type.isBF16(); }

// What picks one of two numbers loses nothing, whatever their type.
bool only_picks(mlir::Operation* op) {
  return llvm::isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp,
                   arith::SelectOp, linalg::YieldOp>(op);
}

// The largest or the smallest of numbers, and nothing more about it.
bool is_extreme(mlir::BlockArgument best) {
  const auto picks = [](mlir::Operation* user) {
    return llvm::isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(user);
  };
  return best.hasOneUse() && llvm::all_of(best.getUsers(), picks);
}

// The results of `op` that are sums of small floats, or other numbers that were combined; with `extremes` the largest
// and the smallest ones of a generic operation, too.
SmallVector<unsigned> narrow_sums(linalg::LinalgOp op, bool extremes) {
  extremes = extremes && llvm::isa<linalg::GenericOp>(op.getOperation());
  SmallVector<unsigned> results;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    const mlir::BlockArgument sum = op.getRegionOutputArgs()[i];
    if (!is_small_float(sum.getType())) continue;
    if (!llvm::all_of(sum.getUsers(), only_picks) || (extremes && is_extreme(sum))) results.push_back(i);
  }
  return results;
}

// `value` element by element in another type.
Value convert(OpBuilder& builder, Location location, Value value, mlir::Type element) {
  auto converted = make_by_element(builder, location, tensor::getMixedSizes(builder, location, value), element, value,
                                   [&](OpBuilder& body, Location at, mlir::ValueRange values) -> Value {
                                     const bool grows =
                                         element.getIntOrFloatBitWidth() > values[0].getType().getIntOrFloatBitWidth();
                                     if (grows) return body.create<arith::ExtFOp>(at, element, values[0]);
                                     return body.create<arith::TruncFOp>(at, element, values[0]);
                                   });
  return converted.getResult(0);
}

// What a sum begins with, in f32. A tensor of one number stays one.
Value widen_start(OpBuilder& builder, Location location, Value start) {
  const mlir::Type f32 = builder.getF32Type();
  auto fill = start.getDefiningOp<linalg::FillOp>();
  if (!fill) return convert(builder, location, start, f32);
  const Value number = builder.createOrFold<arith::ExtFOp>(location, f32, fill.value());
  const Value empty = builder.create<tensor::EmptyOp>(location, tensor::getMixedSizes(builder, location, start), f32);
  return builder.create<linalg::FillOp>(location, number, empty).getResult(0);
}

// Writes the body of an operation again, with f32 where it computed with small floats.
class BodyWriter {
 public:
  BodyWriter(OpBuilder& builder, mlir::Block& source, mlir::ValueRange arguments) : builder_(builder), source_(source) {
    for (unsigned i = 0; i < source.getNumArguments(); ++i) keep(source.getArgument(i), arguments[i]);
  }

  // `wide` tells of each result whether it is wanted in f32.
  void write(llvm::ArrayRef<bool> wide) {
    for (mlir::Operation& op : source_.without_terminator()) write(op);
    SmallVector<Value> results;
    for (const auto& [value, is_wide] : llvm::zip_equal(source_.getTerminator()->getOperands(), wide)) {
      results.push_back(is_wide ? widened(value) : as_it_was(value));
    }
    builder_.create<linalg::YieldOp>(source_.getTerminator()->getLoc(), results);
  }

 private:
  // An argument that is a sum comes in f32 already.
  void keep(Value before, Value after) { (before.getType() == after.getType() ? values_ : wide_).map(before, after); }

  Value widened(Value value) {
    if (!is_small_float(value.getType())) return as_it_was(value);
    if (Value found = wide_.lookupOrNull(value)) return found;
    const Value made = builder_.create<arith::ExtFOp>(value.getLoc(), builder_.getF32Type(), as_it_was(value));
    wide_.map(value, made);
    return made;
  }
  Value as_it_was(Value value) {
    if (Value found = values_.lookupOrNull(value)) return found;
    Value wide = wide_.lookupOrNull(value);
    if (!wide) return value;  // From outside.
    const Value made = builder_.create<arith::TruncFOp>(value.getLoc(), value.getType(), wide);
    values_.map(value, made);
    return made;
  }

  // Arithmetic on small floats is done in f32; whatever else sees the numbers that it saw.
  void write(mlir::Operation& op) {
    const bool is_arithmetic = op.getNumResults() == 1 && is_small_float(op.getResult(0).getType()) &&
                               op.getNumRegions() == 0 && op.getNumOperands() > 0 &&
                               op.hasTrait<mlir::OpTrait::SameOperandsAndResultType>();
    if (!is_arithmetic) {
      op.walk([&](mlir::Operation* inner) {
        for (const Value operand : inner->getOperands()) {
          if (wide_.contains(operand)) static_cast<void>(as_it_was(operand));
        }
      });
      mlir::Operation* copy = builder_.clone(op, values_);
      for (const auto& [before, after] : llvm::zip_equal(op.getResults(), copy->getResults()))
        values_.map(before, after);
      return;
    }
    mlir::OperationState state(op.getLoc(), op.getName());
    for (const Value operand : op.getOperands()) state.addOperands(widened(operand));
    state.addTypes(builder_.getF32Type());
    state.addAttributes(op.getAttrs());
    wide_.map(op.getResult(0), builder_.create(state)->getResult(0));
  }

  OpBuilder& builder_;
  mlir::Block& source_;
  mlir::IRMapping values_, wide_;
};

// Gives the operation that is left; null where its body can't be had.
linalg::GenericOp widen(mlir::IRRewriter& rewriter, linalg::LinalgOp op, llvm::ArrayRef<unsigned> sums) {
  auto generic = llvm::dyn_cast<linalg::GenericOp>(op.getOperation());
  rewriter.setInsertionPoint(op);
  if (!generic) {
    mlir::FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (mlir::failed(made)) return {};
    generic = *made;
  }
  const Location location = generic.getLoc();
  rewriter.setInsertionPoint(generic);
  SmallVector<bool> wide(generic.getOutputs().size(), false);
  SmallVector<Value> inits(generic.getOutputs());
  for (const unsigned i : sums) {
    wide[i] = true;
    inits[i] = widen_start(rewriter, location, inits[i]);
  }
  auto widened = rewriter.create<linalg::GenericOp>(
      location, mlir::ValueRange(inits).getTypes(), generic.getInputs(), inits, generic.getIndexingMapsArray(),
      generic.getIteratorTypesArray(), [&](OpBuilder& builder, Location, mlir::ValueRange arguments) {
        BodyWriter(builder, *generic.getBody(), arguments).write(wide);
      });
  SmallVector<Value> results(widened.getResults());
  for (const unsigned i : sums) {
    const auto type = llvm::cast<mlir::RankedTensorType>(generic.getResult(i).getType());
    results[i] = convert(rewriter, location, results[i], type.getElementType());
    if (results[i].getType() != type) results[i] = rewriter.create<tensor::CastOp>(location, type, results[i]);
  }
  rewriter.replaceOp(generic, results);
  return widened;
}

}  // namespace

linalg::GenericOp widen_sum(mlir::IRRewriter& rewriter, linalg::GenericOp op) {
  const SmallVector<unsigned> sums = narrow_sums(op, /*extremes=*/false);
  return sums.empty() ? op : widen(rewriter, op, sums);
}

void widen_sums(mlir::func::FuncOp kernel, bool extremes, llvm::function_ref<bool(mlir::Operation*)> keeps) {
  SmallVector<linalg::LinalgOp> reductions;
  kernel.walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops() != 0 && op.hasPureTensorSemantics() && !keeps(op)) reductions.push_back(op);
  });
  mlir::IRRewriter rewriter(kernel.getContext());
  for (linalg::LinalgOp op : reductions) {
    const SmallVector<unsigned> sums = narrow_sums(op, extremes);
    if (!sums.empty()) widen(rewriter, op, sums);
  }
}

}  // namespace baton::compiler_lite::codegen
