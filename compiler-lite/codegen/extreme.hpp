// Where the largest or the smallest element is: reductions with two results that belong together, as argmax has them.
#pragma once

#include <optional>

#include "compiler-lite/codegen/gpu/combine.hpp"

namespace baton::compiler_lite::codegen::gpu {

// The body keeps the first of (element, place) and (so far, its place) that is larger or smaller, with NaN before all; of
// equals the one with the smaller place:
//   first  = so_far > element  or  so_far != so_far
//   second = first  or  (so_far == element  and  its place < place)
//   yields select(first, so_far, element), select(second, its place, place)
struct Extreme {
  bool is_smallest;
  bool is_unsigned;
};
std::optional<Extreme> extreme_of(mlir::linalg::GenericOp op);

// Threads begin with what the results held before, which changes nothing however often it is joined.
class ExtremeJoiner final : public Joiner {
 public:
  ExtremeJoiner(const Extreme& extreme, Values start) : extreme_(extreme), start_(std::move(start)) {}
  Values neutral(mlir::OpBuilder&, mlir::Location) const override { return start_; }
  Values join(mlir::OpBuilder& builder, mlir::ValueRange a, mlir::ValueRange b) const override;

 private:
  Extreme extreme_;
  Values start_;
};

}  // namespace baton::compiler_lite::codegen::gpu
