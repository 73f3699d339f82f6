// attention_mask: which scores of an attention count, where a condition on their places says it.
//
//   masked = select(condition, any number made of the score, a constant)
//
// The condition compares sums of the row, the key, constants, and numbers that are the same for all rows and keys. Of a
// rectangle of scores it can often be said at once that all of them count, or none: then nobody need look at each, or compute
// any.
#pragma once

#include <optional>

#include "compiler-lite/codegen/attention.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::codegen {

class AttentionMask {
 public:
  // That of `attention`, whose `masked` chooses so.
  static std::optional<AttentionMask> find(const Attention& attention);

  // The choice in the body of `masked`, what it chooses for scores that count, and the constant for all others, in f32.
  mlir::Operation* choice() const { return choice_.getOperation(); }
  mlir::Value counted() const { return counts_where_true_ ? choice_.getTrueValue() : choice_.getFalseValue(); }
  double nothing() const { return nothing_; }
  // Whether an operand of `masked` is a number that the condition may ask and that is the same for all rows and keys.
  bool is_fixed(mlir::OpOperand& operand) const;

  // Of indices, the last one included.
  struct Range {
    mlir::Value first, last;
  };
  struct Answer {
    mlir::Value all, none;  // Whether all scores count, whether none does; neither where one can't say.
  };
  // Of the scores of such rows, if there is more than one, and keys. `at` is where all other loops of `masked` stand; `fixed`
  // has the value of each operand that is fixed.
  Answer ask(mlir::OpBuilder& builder, mlir::Location location, Range rows, Range keys, mlir::ValueRange at,
             mlir::ValueRange fixed) const;

 private:
  AttentionMask(const Attention& attention, mlir::arith::SelectOp choice, bool counts_where_true, double nothing)
      : attention_(attention), choice_(choice), counts_where_true_(counts_where_true), nothing_(nothing) {}

  Attention attention_;
  mutable mlir::arith::SelectOp choice_;
  bool counts_where_true_;
  double nothing_;
};

}  // namespace baton::compiler_lite::codegen
