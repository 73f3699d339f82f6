// Where the largest or the smallest element is: reductions with two results that belong together, as argmax has them.
#pragma once

#include <optional>

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen {

// The body keeps one of (element, place) and (so far, its place): the one that is larger or smaller, of equals the one with the
// smaller place. It says so in one of these ways, over floats and integers, and with the results in either order:
//   keeps = so_far > element  or  so_far != so_far, which integers don't have
//   yields select(keeps, so_far, element), or the larger one
//          select(keeps  or  (so_far == element  and  its place < place), its place, place)
// or, where the place grows with the steps,
//   takes = element > so_far
//   yields select(takes, element, so_far), select(takes, place, its place)
// or as `join_extremes` writes it.
struct Extreme {
  unsigned value = 0, place = 1;  // Which of the results.
  bool is_smallest = false;
  bool has_unsigned_values = false, has_unsigned_places = false;
  bool nan_comes_first = false;  // Else NaN is never taken.
};
std::optional<Extreme> extreme_of(mlir::linalg::GenericOp op);

// One of two pairs, in the order of the results, by the same rules. What a result held before changes nothing however often it
// is joined.
llvm::SmallVector<mlir::Value> join_extremes(mlir::OpBuilder& builder, const Extreme& extreme, mlir::ValueRange a,
                                             mlir::ValueRange b);

}  // namespace baton::compiler_lite::codegen
