#include "compiler-lite/codegen/cuda/rows_of_sums.hpp"

#include "compiler-lite/codegen/gpu/combine.hpp"
#include "compiler-lite/codegen/gpu/slice_steps.hpp"

namespace baton::compiler_lite::codegen::cuda {
namespace {

namespace arith = mlir::arith;
using gpu::Values;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

constexpr int64_t kRows = 16, kColumns = 8;
// What a thread has side by side, and what it has after an exchange among four.
constexpr int64_t kNeighbours = 2, kManyNeighbours = 8, kThreads = 4;

// How many a thread had best write at once: all eight of small results of short sums, where rows begin at multiples of eight
// elements.
int64_t neighbours_written(const Product& product, int64_t columns) {
  constexpr int64_t kSmallBytes = 2;
  constexpr int64_t kFewSteps = 256;  // After more of them exchanging takes longer than memory gains.
  if (columns % (kThreads * kColumns) != 0 || gpu::SliceSteps::steps_of(product) > kFewSteps) return kNeighbours;
  mlir::linalg::GenericOp last = product.last;
  const Values results = last ? Values(last.getDpsInits()) : Values{product.c};
  for (const Value result : results) {
    if (gpu::stored_bytes(mlir::getElementTypeOrSelf(result.getType())) > kSmallBytes) return kNeighbours;
  }
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  const bool is_known = mlir::succeeded(mlir::getStridesAndOffset(gpu::type_of(product.c), strides, offset)) &&
                        !mlir::ShapedType::isDynamic(strides.front()) && strides.back() == 1;
  return is_known && strides.front() % kManyNeighbours == 0 ? kManyNeighbours : kNeighbours;
}

}  // namespace

RowsOfSums::RowsOfSums(OpBuilder& builder, Location location, const Product& product, bool from_zero, int64_t rows,
                       int64_t columns)
    : TileWriter(builder, location),
      rows_(rows),
      columns_(columns),
      writer_(builder, location, product, from_zero, neighbours_written(product, columns)) {}

void RowsOfSums::store(const Place& place, Value is_inside, ValueRange sums) {
  const int64_t count = writer_.at_once();
  choose(
      both(is_inside, writer_.is_aligned()), {},
      [&] { return count == kManyNeighbours ? store_exchanged(place, sums) : store_each(place, sums, count, false); },
      [&] { return store_each(place, sums, 1, true); });
}

ValueRange RowsOfSums::neighbours(ValueRange sums, int64_t i, int64_t j, int64_t below) const {
  const int64_t first = ((i * (columns_ / kColumns) + j) * 2 + below) * kNeighbours;
  return sums.slice(static_cast<size_t>(first), kNeighbours);
}

Value RowsOfSums::row_of(const Place& place, int64_t i, int64_t below) {
  return add(add(place.row, quotient(place.lane, kThreads)), i * kRows + below * (kRows / 2));
}

Values RowsOfSums::store_each(const Place& place, ValueRange sums, int64_t count, bool checked) {
  const Value column0 = add(place.column, times(remainder(place.lane, kThreads), kNeighbours));
  for (int64_t i = 0; i < rows_ / kRows; ++i) {
    for (int64_t j = 0; j < columns_ / kColumns; ++j) {
      for (int64_t below = 0; below < 2; ++below) {
        const ValueRange both_sums = neighbours(sums, i, j, below);
        for (int64_t c = 0; c < kNeighbours; c += count) {
          const Value row = row_of(place, i, below), column = add(column0, j * kColumns + c);
          const ValueRange values = both_sums.slice(static_cast<size_t>(c), static_cast<size_t>(count));
          if (!checked) {
            writer_.write(builder_, row, column, values);
          } else {
            only_if(both(is_below(row, place.height), is_below(column, place.width)),
                    [&] { writer_.write(builder_, row, column, values); });
          }
        }
      }
    }
  }
  return {};
}

Values RowsOfSums::store_exchanged(const Place& place, ValueRange sums) {
  const Value column0 = add(place.column, times(remainder(place.lane, kThreads), kManyNeighbours));
  for (int64_t i = 0; i < rows_ / kRows; ++i) {
    for (int64_t j = 0; j < columns_ / kColumns; j += kThreads) {
      for (int64_t below = 0; below < 2; ++below) {
        Values own;
        for (int64_t eight = j; eight < j + kThreads; ++eight) {
          llvm::append_range(own, neighbours(sums, i, eight, below));
        }
        writer_.write(builder_, row_of(place, i, below), add(column0, j * kColumns), exchange(place.lane, own));
      }
    }
  }
  return {};
}

// The i-th of four threads, of which each has two neighbours of four times eight, gets the i-th eight. In two rounds: threads
// beside each other, then pairs of threads, give what the other one's eights are made of.
Values RowsOfSums::exchange(Value lane, Values held) {
  for (const int64_t distance : {1, 2}) {
    const Value bit = builder_.create<arith::AndIOp>(location_, lane, index(distance));
    const Value is_upper = compare(arith::CmpIPredicate::ne, bit, index(0));
    const auto pick = [&](Value of_upper, Value of_lower) {
      return builder_.create<arith::SelectOp>(location_, is_upper, of_upper, of_lower);
    };
    // Eights whose numbers differ in this bit: a thread keeps the one that it has the bit of.
    const auto apart = static_cast<size_t>(distance * kNeighbours);
    Values next(held);
    for (size_t lower = 0; lower < held.size(); ++lower) {
      if (lower / apart % 2 != 0) continue;
      const size_t upper = lower + apart;
      const Value given = gpu::shuffle(builder_, location_, pick(held[lower], held[upper]), distance);
      next[lower] = pick(given, held[lower]);
      next[upper] = pick(held[upper], given);
    }
    held = next;
  }
  return held;
}

}  // namespace baton::compiler_lite::codegen::cuda
