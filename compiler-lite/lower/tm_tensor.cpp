// Scans, scatters and sorts of torch-mlir → operations of linalg that make their result element by element. A scan doubles
// what it has summed; an element of a scatter looks for the updates that hit it; the place of an element that is sorted is
// the number of those that stand before it.
#include "compiler-lite/codegen/by_element.hpp"
#include "compiler-lite/dialects/tm_tensor/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

using Point = SmallVector<Value>;

// What is written again and again at one place of the program.
class Writer {
 public:
  Writer(OpBuilder& builder, Location where) : builder_(builder), where_(where) {}
  Value index(int64_t number) { return builder_.create<arith::ConstantIndexOp>(where_, number); }
  Value compare(arith::CmpIPredicate how, Value a, Value b) {
    return builder_.create<arith::CmpIOp>(where_, how, a, b);
  }
  Value both(Value a, Value b) { return builder_.create<arith::AndIOp>(where_, a, b); }
  Value either(Value a, Value b) { return builder_.create<arith::OrIOp>(where_, a, b); }
  Value negation(Value a) { return builder_.create<arith::XOrIOp>(where_, a, truth()); }
  Value minus(Value a, Value b) { return builder_.create<arith::SubIOp>(where_, a, b); }
  Value choice(Value which, Value a, Value b) { return builder_.create<arith::SelectOp>(where_, which, a, b); }
  Value element(Value tensor, const Point& point) { return builder_.create<tensor::ExtractOp>(where_, tensor, point); }
  Value size(Value tensor, int64_t dimension) {
    return builder_.createOrFold<tensor::DimOp>(where_, tensor, dimension);
  }
  // One more where that holds.
  Value count(Value number, Value holds) {
    const Value step = builder_.create<arith::IndexCastUIOp>(where_, builder_.getIndexType(), holds);
    return builder_.create<arith::AddIOp>(where_, number, step);
  }
  // What the region of `op` yields for these scalars.
  Value called(Operation* op, ValueRange scalars) {
    IRMapping values;
    Block& block = op->getRegion(0).front();
    values.map(block.getArguments(), scalars);
    for (Operation& each : block.without_terminator()) builder_.clone(each, values);
    return values.lookupOrDefault(block.getTerminator()->getOperand(0));
  }

 private:
  Value truth() { return builder_.create<arith::ConstantIntOp>(where_, 1, 1); }
  OpBuilder& builder_;
  Location where_;
};

Point moved(Point point, int64_t dimension, Value to) {
  point[static_cast<size_t>(dimension)] = to;
  return point;
}

// A tensor like `like`, of elements that `write` gives for each point.
Value by_element(OpBuilder& builder, Location where, Value like, Type element,
                 function_ref<Value(OpBuilder&, Writer&, const Point&)> write) {
  const auto type = cast<RankedTensorType>(like.getType());
  const auto made = codegen::make_by_element(
      builder, where, tensor::getMixedSizes(builder, where, like), element, {},
      [&](OpBuilder& body, Location at, ValueRange) {
        Writer writer(body, at);
        return write(body, writer, codegen::this_element(body, at, static_cast<size_t>(type.getRank())));
      });
  const Value result = made->getResult(0);
  const auto wanted = RankedTensorType::get(type.getShape(), element);
  return result.getType() == wanted ? result : builder.create<tensor::CastOp>(where, wanted, result).getResult();
}

// `step` for each number below `end`, with what it gave before.
Value repeated(OpBuilder& builder, Location where, Value end, Value first,
               function_ref<Value(OpBuilder&, Writer&, Value, Value)> step) {
  Writer outside(builder, where);
  auto loop = builder.create<scf::ForOp>(where, outside.index(0), end, outside.index(1), first,
                                         [&](OpBuilder& inside, Location at, Value number, ValueRange carried) {
                                           Writer writer(inside, at);
                                           const Value next = step(inside, writer, number, carried.front());
                                           inside.create<scf::YieldOp>(at, next);
                                         });
  return loop.getResult(0);
}

class Scan {
 public:
  Scan(IRRewriter& rewriter, tm_tensor::ScanOp op)
      : rewriter_(rewriter), op_(op), where_(op.getLoc()), dimension_(static_cast<int64_t>(op.getDimension())) {}
  void lower() {
    const Value input = op_.getInputs()[0];
    const auto type = cast<RankedTensorType>(input.getType());
    const int64_t length = type.getDimSize(static_cast<unsigned>(dimension_));
    if (length == 0) return rewriter_.replaceOp(op_, op_.getOutputs());
    const Value row = op_.getInclusive() ? input : shifted(input);
    const Value result = ShapedType::isDynamic(length) ? element_by_element(row) : doubled(row, length);
    rewriter_.replaceOp(op_, {result, last(result)});
  }

 private:
  Value accumulator() { return op_.getOutputs()[1]; }
  Point without(Point point) const {
    point.erase(point.begin() + dimension_);
    return point;
  }
  // The accumulator, and behind it all but the last element.
  Value shifted(Value row) {
    return along(row, [&](OpBuilder&, Writer& writer, const Point& point) {
      const Value place = point[static_cast<size_t>(dimension_)];
      const Value is_first = writer.compare(arith::CmpIPredicate::eq, place, writer.index(0));
      const Value before = writer.choice(is_first, place, writer.minus(place, writer.index(1)));
      const Value first = writer.element(accumulator(), without(point));
      return writer.choice(is_first, first, writer.element(row, moved(point, dimension_, before)));
    });
  }
  // After the step with `distance` each element has what the 2 * distance elements up to it give.
  Value doubled(Value row, int64_t length) {
    for (int64_t distance = 1; distance < length; distance *= 2) {
      row = along(row, [&](OpBuilder&, Writer& writer, const Point& point) {
        const Value place = point[static_cast<size_t>(dimension_)], step = writer.index(distance);
        const Value has_more = writer.compare(arith::CmpIPredicate::sge, place, step);
        const Value before = writer.choice(has_more, writer.minus(place, step), place);
        const Value left = writer.element(row, moved(point, dimension_, before));
        const Value right = writer.element(row, point);
        return writer.choice(has_more, writer.called(op_, {left, right}), right);
      });
    }
    return row;
  }
  Value element_by_element(Value row) {
    return along(row, [&](OpBuilder& body, Writer& writer, const Point& point) {
      const Value place = point[static_cast<size_t>(dimension_)];
      const Value first = writer.element(row, moved(point, dimension_, writer.index(0)));
      return repeated(body, where_, place, first, [&](OpBuilder&, Writer& inner, Value before, Value sum) {
        const Value next = inner.count(before, inner.compare(arith::CmpIPredicate::eq, before, before));
        return inner.called(op_, {sum, inner.element(row, moved(point, dimension_, next))});
      });
    });
  }
  Value along(Value row, function_ref<Value(OpBuilder&, Writer&, const Point&)> write) {
    return by_element(rewriter_, where_, row, cast<RankedTensorType>(row.getType()).getElementType(), write);
  }
  Value last(Value result) {
    Writer writer(rewriter_, where_);
    const Value end = writer.minus(writer.size(result, dimension_), writer.index(1));
    return by_element(rewriter_, where_, accumulator(),
                      cast<RankedTensorType>(accumulator().getType()).getElementType(),
                      [&](OpBuilder&, Writer& inner, Point point) {
                        point.insert(point.begin() + dimension_, end);
                        return inner.element(result, point);
                      });
  }

  IRRewriter& rewriter_;
  tm_tensor::ScanOp op_;
  Location where_;
  int64_t dimension_;
};

class Scatter {
 public:
  Scatter(IRRewriter& rewriter, tm_tensor::ScatterOp op)
      : rewriter_(rewriter), op_(op), updates_(op.getInputs()[0]), indices_(op.getInputs()[1]) {}
  void lower() {
    const Value old = op_.getOutputs()[0];
    const Value count = Writer(rewriter_, op_.getLoc()).size(updates_, 0);
    const Type element = cast<RankedTensorType>(old.getType()).getElementType();
    const auto write = [&](OpBuilder& body, Writer& writer, const Point& point) {
      const auto step = [&](OpBuilder& inside, Writer& inner, Value number, Value now) {
        return updated(inside, inner, point, number, now);
      };
      return repeated(body, op_.getLoc(), count, writer.element(old, point), step);
    };
    rewriter_.replaceOp(op_, by_element(rewriter_, op_.getLoc(), old, element, write));
  }

 private:
  // Where the update with this number begins in a dimension of the result.
  Value begin(OpBuilder& builder, Writer& writer, Value number, size_t dimension) {
    const ArrayRef<int64_t> map = op_.getDimensionMap();
    const auto* found = llvm::find(map, static_cast<int64_t>(dimension));
    if (found == map.end()) return writer.index(0);
    const Value named = writer.element(indices_, {number, writer.index(found - map.begin())});
    return getValueOrCreateCastToIndexLike(builder, op_.getLoc(), builder.getIndexType(), named);
  }
  // The last dimensions of an update are the last ones of the result.
  Value updated(OpBuilder& builder, Writer& writer, const Point& point, Value number, Value now) {
    const auto rank = static_cast<size_t>(cast<RankedTensorType>(updates_.getType()).getRank());
    const size_t without = point.size() + 1 - rank;
    Point at{number};
    Value hit = writer.compare(arith::CmpIPredicate::eq, number, number);
    for (size_t d = 0; d < point.size(); ++d) {
      const Value from = writer.minus(point[d], begin(builder, writer, number, d));
      const bool is_one = d < without;
      const Value size = is_one ? writer.index(1) : writer.size(updates_, static_cast<int64_t>(d - without + 1));
      const Value is_inside = writer.compare(arith::CmpIPredicate::ult, from, size);
      hit = writer.both(hit, is_inside);
      if (!is_one) at.push_back(writer.choice(is_inside, from, writer.index(0)));
    }
    return writer.choice(hit, writer.called(op_, {writer.element(updates_, at), now}), now);
  }

  IRRewriter& rewriter_;
  tm_tensor::ScatterOp op_;
  Value updates_, indices_;
};

class Sort {
 public:
  Sort(IRRewriter& rewriter, tm_tensor::SortOp op)
      : rewriter_(rewriter),
        op_(op),
        where_(op.getLoc()),
        first_(op.getOutputs()[0]),
        dimension_(static_cast<int64_t>(op.getDimension())) {}
  void lower() {
    length_ = Writer(rewriter_, where_).size(first_, dimension_);
    const Value places = places_of(counts());
    SmallVector<Value> results;
    for (const Value each : op_.getOutputs()) results.push_back(in_place(each, places));
    rewriter_.replaceOp(op_, results);
  }

 private:
  Value place(const Point& point) const { return point[static_cast<size_t>(dimension_)]; }
  Value is_in_order(Writer& writer, const Point& a, const Point& b) {
    SmallVector<Value> scalars;
    for (const Value each : op_.getOutputs()) {
      scalars.push_back(writer.element(each, a));
      scalars.push_back(writer.element(each, b));
    }
    return writer.called(op_, scalars);
  }
  // Whether the region holds for equal elements, where it compares in one step.
  std::optional<bool> holds_for_equals() {
    Operation* compares = op_->getRegion(0).front().getTerminator()->getOperand(0).getDefiningOp();
    if (auto integers = dyn_cast_or_null<arith::CmpIOp>(compares)) {
      using arith::CmpIPredicate;
      const CmpIPredicate how = integers.getPredicate();
      return how == CmpIPredicate::eq || how == CmpIPredicate::sle || how == CmpIPredicate::sge ||
             how == CmpIPredicate::ule || how == CmpIPredicate::uge;
    }
    if (auto floats = dyn_cast_or_null<arith::CmpFOp>(compares)) {
      using arith::CmpFPredicate;
      const CmpFPredicate how = floats.getPredicate();
      if (how == CmpFPredicate::OGT || how == CmpFPredicate::OLT) return false;
      if (how == CmpFPredicate::OGE || how == CmpFPredicate::OLE) return true;
    }
    return std::nullopt;
  }
  // Of two that are equal the first stays first, whether the region holds for equal elements or not.
  Value comes_first(Writer& writer, const Point& left, const Point& right) {
    const std::optional<bool> holds = holds_for_equals();
    if (holds && *holds) return is_in_order(writer, left, right);
    const Value is_turned = is_in_order(writer, right, left);
    const Value stays = writer.negation(is_turned);
    return holds ? stays : writer.either(is_in_order(writer, left, right), stays);
  }
  // How many elements of its row each element comes after.
  Value counts() {
    return numbers([&](Writer& writer, const Point& point, Value other, Value count) {
      const Point there = moved(point, dimension_, other);
      const Value is_left = writer.compare(arith::CmpIPredicate::slt, other, place(point));
      const Value is_right = writer.compare(arith::CmpIPredicate::sgt, other, place(point));
      const Value stays = writer.both(is_left, comes_first(writer, there, point));
      const Value passes = writer.both(is_right, writer.negation(comes_first(writer, point, there)));
      return writer.count(count, writer.either(stays, passes));
    });
  }
  // Each place once, also where comparisons contradict each other, as those with NaN do.
  Value places_of(Value counts) {
    return numbers([&](Writer& writer, const Point& point, Value other, Value count) {
      const Value there = writer.element(counts, moved(point, dimension_, other));
      const Value here = writer.element(counts, point);
      const Value is_left = writer.compare(arith::CmpIPredicate::slt, other, place(point));
      const Value is_tie = writer.both(is_left, writer.compare(arith::CmpIPredicate::eq, there, here));
      return writer.count(count, writer.either(is_tie, writer.compare(arith::CmpIPredicate::slt, there, here)));
    });
  }
  Value numbers(function_ref<Value(Writer&, const Point&, Value, Value)> step) {
    return by_element(
        rewriter_, where_, first_, rewriter_.getIndexType(), [&](OpBuilder& body, Writer& writer, const Point& point) {
          return repeated(
              body, where_, length_, writer.index(0),
              [&](OpBuilder&, Writer& inner, Value other, Value count) { return step(inner, point, other, count); });
        });
  }
  Value in_place(Value row, Value places) {
    const Type element = cast<RankedTensorType>(row.getType()).getElementType();
    return by_element(rewriter_, where_, row, element, [&](OpBuilder& body, Writer& writer, const Point& point) {
      const auto look = [&](OpBuilder&, Writer& inner, Value other, Value found) {
        const Value there = inner.element(places, moved(point, dimension_, other));
        const Value is_here = inner.compare(arith::CmpIPredicate::eq, there, place(point));
        return inner.choice(is_here, other, found);
      };
      const Value from = repeated(body, where_, length_, place(point), look);
      return writer.element(row, moved(point, dimension_, from));
    });
  }

  IRRewriter& rewriter_;
  tm_tensor::SortOp op_;
  Location where_;
  Value first_, length_;
  int64_t dimension_;
};

}  // namespace

LogicalResult tm_tensor_to_linalg(ModuleOp module) {
  SmallVector<Operation*> found;
  module.walk([&](Operation* op) {
    if (isa<tm_tensor::ScanOp, tm_tensor::ScatterOp, tm_tensor::SortOp>(op)) found.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (Operation* op : found) {
    rewriter.setInsertionPoint(op);
    if (auto scan = dyn_cast<tm_tensor::ScanOp>(op)) {
      Scan(rewriter, scan).lower();
    } else if (auto scatter = dyn_cast<tm_tensor::ScatterOp>(op)) {
      Scatter(rewriter, scatter).lower();
    } else {
      Sort(rewriter, cast<tm_tensor::SortOp>(op)).lower();
    }
  }
  return success();
}

}  // namespace baton::compiler_lite::lower
