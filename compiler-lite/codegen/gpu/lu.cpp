#include "compiler-lite/codegen/gpu/lu.hpp"

#include "compiler-lite/codegen/gpu/held_matrix.hpp"
#include "llvm/Support/MathExtras.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

using mlir::Value;
using mlir::ValueRange;
using Values = ThreadCode::Values;

class Lu final : public HeldMatrix {
 public:
  using HeldMatrix::HeldMatrix;

  void lu() {
    read_matrix();
    eliminate(std::min(rows_, columns_), code_.binding(2), /*order=*/{});
    write_lu(code_.binding(1));
  }

  void lu_panel() {
    read_matrix();
    const Value order = code_.shared(rows_, code_.word(0).getType()), order_made = code_.binding(2);
    code_.strided(rows_, [&](Value i) { code_.store(code_.to_word(i), order, i); });
    code_.barrier();
    eliminate(columns_, code_.binding(1), order);
    write_lu(code_.binding(0));
    code_.strided(rows_, [&](Value i) { code_.store(code_.load(order, i), order_made, {matrix_, i}); });
  }

  // A lane has a column, and a warp a row. What is right of the panel, in the rows of its heads, each lane finds for itself.
  void lu_rest() {
    const Value given = code_.binding(0), order = code_.binding(1), made = code_.binding(2);
    const int64_t all_columns = type_.getDimSize(2);
    const int64_t across = llvm::divideCeilSigned(all_columns, kColumnsOfRest);
    const int64_t down = llvm::divideCeilSigned(rows_, kRowsOfRest);
    const Value part = code_.remainder(matrix_, across * down), chunk = code_.quotient(part, across);
    matrix_ = code_.quotient(matrix_, across * down);
    const Value mine = code_.add(code_.times(code_.remainder(part, across), kColumnsOfRest), lane_);
    const Value is_there = code_.is_below(mine, all_columns);
    const Value j = code_.at_most(mine, all_columns - 1), end = code_.add(begin_, columns_);
    const Value is_left = code_.is_below(j, begin_), is_right = code_.is_below(code_.subtract(end, code_.index(1)), j);
    const Value is_in_panel = code_.is_same(is_left, is_right);
    const auto read = [&](Value i) {
      const Value moved = code_.to_index(code_.load(order, {matrix_, i}));
      return code_.load(given, {matrix_, code_.choose(is_in_panel, i, moved), j});
    };
    Values tops;
    for (int64_t k = 0; k < columns_; ++k) tops.push_back(read(code_.add(begin_, k)));
    Values found = tops;
    for (int64_t k = 0; k < columns_; ++k) {
      for (int64_t behind = k + 1; behind < columns_; ++behind) {
        const Value factor = code_.load(given, {matrix_, code_.add(begin_, behind), code_.add(begin_, k)});
        Value& left = found[static_cast<size_t>(behind)];
        left = code_.minus(left, code_.product(factor, found[static_cast<size_t>(k)]));
      }
    }
    const auto write = [&](Value value, Value i) {
      code_.when(is_there, [&] { code_.store(value, made, {matrix_, i, j}); });
    };
    const Value first = code_.times(chunk, kRowsOfRest);
    code_.when(code_.both(code_.is_same(chunk, code_.index(0)), code_.is_same(warp_, code_.index(0))), [&] {
      for (int64_t k = 0; k < columns_; ++k) {
        const auto at_k = static_cast<size_t>(k);
        write(code_.choose(is_right, found[at_k], tops[at_k]), code_.add(begin_, k));
      }
    });
    const Value last = code_.at_most(code_.add(first, kRowsOfRest), rows_);
    code_.loop(code_.add(first, warp_), last, code_.index(warps_), [&](Value i) {
      const Value is_above = code_.is_below(i, begin_);
      const Value is_below = code_.is_below(code_.subtract(end, code_.index(1)), i);
      code_.when(code_.either(is_above, is_below), [&] {
        const Value old = read(i);
        Value left = old;
        for (int64_t k = 0; k < columns_; ++k) {
          const Value factor = code_.load(given, {matrix_, i, code_.add(begin_, k)});
          left = code_.minus(left, code_.product(factor, found[static_cast<size_t>(k)]));
        }
        write(code_.choose(code_.both(is_right, is_below), left, old), i);
      });
    });
  }

  // One thread exchanges, where all the others wait for it: a row may be exchanged more than once.
  void permutation(int64_t rows) {
    const Value given = code_.binding(0), made = code_.binding(1), none = code_.index(0);
    const Value pivots = code_.shared(columns_, element_), order = code_.shared(rows, element_);
    code_.strided(columns_, [&](Value k) { code_.store(code_.load(given, {matrix_, none, k}), pivots, k); });
    code_.strided(rows, [&](Value i) { code_.store(code_.to_word(i), order, i); });
    code_.barrier();
    by_first_thread([&] {
      each_column(columns_, [&](Value k) {
        const Value pivot = code_.at_most(code_.to_index(code_.load(pivots, k)), rows - 1);
        exchange(order, k, pivot);
      });
    });
    code_.barrier();
    code_.strided(rows, [&](Value i) { code_.store(code_.load(order, i), made, {matrix_, none, i}); });
  }

 private:
  void exchange(Value numbers, Value i, Value j) {
    const Value here = code_.load(numbers, i), there = code_.load(numbers, j);
    code_.store(there, numbers, i);
    code_.store(here, numbers, j);
  }

  void eliminate(int64_t count, Value pivots, Value order) {
    const Value pivot_held = code_.shared(1, code_.word(0).getType());
    each_column(count, [&](Value k) {
      const Value head_row = code_.add(begin_, k), behind = code_.add(k, 1);
      by_first_warp([&] {
        const Value pivot = find_pivot(k, head_row);
        by_first_thread([&] {
          code_.store(pivot, pivot_held, code_.index(0));
          code_.store(pivot, pivots, {matrix_, head_row});
        });
      });
      code_.barrier();
      const Value pivot = code_.to_index(code_.load(pivot_held, code_.index(0)));
      code_.strided(columns_, [&](Value j) {
        const Value here = at(head_row, j), there = at(pivot, j);
        put(there, head_row, j);
        put(here, pivot, j);
      });
      if (order) {
        by_first_thread([&] { exchange(order, head_row, pivot); });
      }
      code_.barrier();
      const Value head = safe_head(k);
      code_.loop(code_.add(code_.add(head_row, 1), warp_), code_.index(rows_), code_.index(warps_), [&](Value i) {
        const Value factor = code_.over(at(i, k), head);
        code_.loop(code_.add(behind, lane_), code_.index(columns_), code_.index(kWarp),
                   [&](Value j) { put(code_.minus(at(i, j), code_.product(factor, at(head_row, j))), i, j); });
      });
      code_.barrier();
    });
  }

  // The first row, from the head's on, with the largest number of a column.
  Value find_pivot(Value k, Value head_row) {
    const Values none = {code_.number(element_, -1), code_.to_word(head_row)};
    Values best =
        code_.loop(code_.add(head_row, lane_), code_.index(rows_), code_.index(kWarp), none,
                   [&](Value i, ValueRange so_far) -> Values {
                     const Value size = code_.size(at(i, k)), larger = code_.is_larger(size, so_far[0]);
                     return {code_.choose(larger, size, so_far[0]), code_.choose(larger, code_.to_word(i), so_far[1])};
                   });
    code_.join_lanes(best, kWarp, [&](ValueRange a, ValueRange b) -> Values {
      const Value is_first = code_.both(code_.is_equal(a[0], b[0]), code_.is_less(b[1], a[1]));
      const Value other = code_.either(code_.is_larger(b[0], a[0]), is_first);
      return {code_.choose(other, b[0], a[0]), code_.choose(other, b[1], a[1])};
    });
    return best[1];
  }

  Value safe_head(Value k) {
    const Value head = at(code_.add(begin_, k), k);
    return code_.choose(code_.is_equal(head, zero()), one(), head);
  }

  // Of the lower factor.
  Value factor_at(Value i, Value j) { return code_.over(at(i, j), safe_head(j)); }

  void write_lu(Value made) {
    for_all(rows_, columns_, [&](Value i, Value j) {
      const Value is_lower = code_.is_below(code_.add(begin_, j), i);
      const Value value = code_.either_way(
          is_lower, element_, [&] { return factor_at(i, j); }, [&] { return at(i, j); });
      code_.store(value, made, {matrix_, i, code_.add(begin_, j)});
    });
  }
};

}  // namespace

void write_lu(mlir::func::FuncOp kernel, FactorKind kind, const Features& features) {
  Lu writer(kernel, features);
  switch (kind) {
    case FactorKind::kLu: writer.lu(); break;
    case FactorKind::kLuPanel: writer.lu_panel(); break;
    case FactorKind::kLuRest: writer.lu_rest(); break;
    case FactorKind::kPermutation: writer.permutation(binding_type(kernel, 1).getDimSize(2)); break;
    default: break;
  }
}

}  // namespace baton::compiler_lite::codegen::gpu
