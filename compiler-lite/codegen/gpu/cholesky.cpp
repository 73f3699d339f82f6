#include "compiler-lite/codegen/gpu/cholesky.hpp"

#include "compiler-lite/codegen/gpu/held_matrix.hpp"
#include "llvm/Support/MathExtras.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

using mlir::Value;
using mlir::ValueRange;
using Values = ThreadCode::Values;

class Cholesky final : public HeldMatrix {
 public:
  using HeldMatrix::HeldMatrix;

  void cholesky() {
    read_matrix();
    take_roots(rows_);
    write_roots(rows_, code_.binding(1), code_.index(0));
  }

  void cholesky_panel() {
    held_ = code_.shared(columns_ * pitch_, element_);
    const Value given = code_.binding(0);
    move_all(columns_, columns_, [&](Value i, Value j) {
      return code_.load(given, {matrix_, code_.add(begin_, i), code_.add(begin_, j)});
    });
    code_.barrier();
    take_roots(columns_);
    write_roots(columns_, code_.binding(1), begin_);
  }

  // A tile of what is left of the matrix. Its block finds for itself what belongs to its rows and columns below the panel's block.
  void cholesky_rest() {
    const int64_t size = type_.getDimSize(2), tiles = llvm::divideCeilSigned(size, kTileOfRest);
    const Value given = code_.binding(0), made = code_.binding(1);
    const Value part = code_.remainder(matrix_, tiles * tiles);
    matrix_ = code_.quotient(matrix_, tiles * tiles);
    const Value down = code_.quotient(part, tiles), across = code_.remainder(part, tiles);
    const Value end = code_.add(begin_, columns_);
    const Value first_row = code_.add(end, code_.times(down, kTileOfRest));
    const Value first_column = code_.add(end, code_.times(across, kTileOfRest));
    held_ = code_.shared(2 * kTileOfRest * pitch_, element_);
    const Value head = code_.shared(columns_ * pitch_, element_);
    const Value is_upper = code_.is_below(down, across);
    const Value is_there = code_.is_below(first_row, size);
    code_.when(code_.choose(is_upper, code_.no(), is_there), [&] {
      for_all(columns_, columns_, [&](Value i, Value j) {
        code_.store(code_.load(made, {matrix_, code_.add(begin_, i), code_.add(begin_, j)}), head, place(i, j));
      });
      // Rows of the tile, then those that its columns are of the other factor.
      move_all(2 * kTileOfRest, columns_, [&](Value i, Value k) {
        const Value as_column = code_.add(first_column, code_.subtract(i, code_.index(kTileOfRest)));
        const Value row = code_.choose(code_.is_below(i, kTileOfRest), code_.add(first_row, i), as_column);
        return code_.load(given, {matrix_, code_.at_most(row, size - 1), code_.add(begin_, k)});
      });
      code_.barrier();
      code_.strided(2 * kTileOfRest, [&](Value i) { solve_row(i, head); });
      code_.barrier();
      code_.when(code_.is_same(across, code_.index(0)), [&] {
        for_all(kTileOfRest, columns_, [&](Value i, Value k) {
          const Value row = code_.add(first_row, i);
          code_.when(code_.is_below(row, size), [&] {
            code_.store(at(i, k), made, {matrix_, row, code_.add(begin_, k)});
          });
        });
      });
      take_products(given, first_row, first_column, size);
    });
  }

  // Threads side by side have columns of x side by side. Rows of x are divided when they are written.
  void solve(bool is_lower, bool is_unit) {
    const int64_t size = type_.getDimSize(1), width = columns_;
    const Value given = code_.binding(0), right = code_.binding(1), made = code_.binding(2);
    const int64_t count = llvm::cast<mlir::MemRefType>(right.getType()).getDimSize(2);
    const int64_t groups = llvm::divideCeilSigned(count, width), apart = code_.block().threads() / width;
    const Value first = code_.times(code_.remainder(matrix_, groups), width);
    matrix_ = code_.quotient(matrix_, groups);
    pitch_ = pitch_of(size);
    held_ = code_.shared(size * pitch_, element_);
    const Value x = code_.shared(size * width, element_);
    move_all(size, size, [&](Value i, Value j) { return code_.load(given, {matrix_, i, j}); });
    const auto in_x = [&](Value i, Value j) { return code_.add(code_.times(i, width), j); };
    for_all(size, width, [&](Value i, Value j) {
      const Value column = code_.at_most(code_.add(first, j), count - 1);
      code_.store(code_.load(right, {matrix_, i, column}), x, in_x(i, j));
    });
    code_.barrier();
    const Value j = code_.remainder(code_.thread(), width), row = code_.quotient(code_.thread(), width);
    const auto solved = [&](Value i, Value column) {
      const Value value = code_.load(x, in_x(i, column));
      return is_unit ? value : code_.over(value, at(i, i));
    };
    each_column(size, [&](Value turn) {
      const Value k = is_lower ? turn : code_.subtract(code_.index(size - 1), turn);
      const Value found = solved(k, j);
      const Value begin = is_lower ? code_.add(code_.add(k, 1), row) : row, end = is_lower ? code_.index(size) : k;
      code_.loop(begin, end, code_.index(apart), [&](Value i) {
        code_.store(code_.minus(code_.load(x, in_x(i, j)), code_.product(at(i, k), found)), x, in_x(i, j));
      });
      code_.barrier();
    });
    for_all(size, width, [&](Value i, Value column) {
      const Value to = code_.add(first, column);
      code_.when(code_.is_below(to, count), [&] { code_.store(solved(i, column), made, {matrix_, i, to}); });
    });
  }

 private:
  void take_roots(int64_t rows) {
    each_column(columns_, [&](Value k) {
      const Value share = code_.over(one(), at(k, k)), behind = code_.add(k, 1);
      code_.loop(code_.add(behind, warp_), code_.index(rows), code_.index(warps_), [&](Value i) {
        const Value factor = code_.product(at(i, k), share), end = code_.at_most(code_.add(i, 1), columns_);
        code_.loop(code_.add(behind, lane_), end, code_.index(kWarp),
                   [&](Value j) { put(code_.minus(at(i, j), code_.product(factor, at(j, k))), i, j); });
      });
      code_.barrier();
    });
  }

  void write_roots(int64_t rows, Value made, Value first) {
    for_all(rows, columns_, [&](Value i, Value j) {
      const Value head = code_.choose(code_.is_below(j, i), code_.root(at(j, j)), one());
      const Value value = code_.choose(code_.is_same(i, j), code_.root(at(i, j)), code_.over(at(i, j), head));
      code_.store(value, made, {matrix_, code_.add(first, i), code_.add(first, j)});
    });
  }

  // The row of the factor: it is solved by the block on the diagonal.
  void solve_row(Value i, Value head) {
    Values found;
    for (int64_t k = 0; k < columns_; ++k) found.push_back(at(i, code_.index(k)));
    // What is found is taken from all that is left at once: these don't wait for each other.
    for (int64_t k = 0; k < columns_; ++k) {
      Value& mine = found[static_cast<size_t>(k)];
      mine = code_.over(mine, code_.load(head, code_.index(k * pitch_ + k)));
      for (int64_t behind = k + 1; behind < columns_; ++behind) {
        Value& left = found[static_cast<size_t>(behind)];
        left = code_.minus(left, code_.product(code_.load(head, code_.index(behind * pitch_ + k)), mine));
      }
    }
    for (int64_t k = 0; k < columns_; ++k) put(found[static_cast<size_t>(k)], i, code_.index(k));
  }

  // From the tile, of which each thread has rows and columns that lie apart.
  void take_products(Value matrix, Value first_row, Value first_column, int64_t size) {
    constexpr int64_t kEach = 4, kApart = kTileOfRest / kEach;
    const Value row = code_.quotient(code_.thread(), kApart), column = code_.remainder(code_.thread(), kApart);
    const Values none(kEach * kEach, zero());
    const Values sums =
        code_.loop(code_.index(0), code_.index(columns_), code_.index(1), none, [&](Value k, ValueRange so_far) {
          Values a, b, next;
          for (int64_t each = 0; each < kEach; ++each) {
            a.push_back(at(code_.add(row, each * kApart), k));
            b.push_back(at(code_.add(column, kTileOfRest + each * kApart), k));
          }
          for (size_t number = 0; number < so_far.size(); ++number) {
            next.push_back(code_.plus(so_far[number], code_.product(a[number / kEach], b[number % kEach])));
          }
          return next;
        });
    for (int64_t number = 0; number < kEach * kEach; ++number) {
      const Value i = code_.add(first_row, code_.add(row, number / kEach * kApart));
      const Value j = code_.add(first_column, code_.add(column, number % kEach * kApart));
      code_.when(code_.both(code_.is_below(i, size), code_.is_below(j, code_.add(i, 1))), [&] {
        const Value left = code_.minus(code_.load(matrix, {matrix_, i, j}), sums[static_cast<size_t>(number)]);
        code_.store(left, matrix, {matrix_, i, j});
      });
    }
  }
};

}  // namespace

void write_cholesky(mlir::func::FuncOp kernel, FactorKind kind, const Features& features) {
  Cholesky writer(kernel, features);
  switch (kind) {
    case FactorKind::kCholesky: writer.cholesky(); break;
    case FactorKind::kCholeskyPanel: writer.cholesky_panel(); break;
    case FactorKind::kCholeskyRest: writer.cholesky_rest(); break;
    case FactorKind::kSolveLower: writer.solve(true, false); break;
    case FactorKind::kSolveUpper: writer.solve(false, false); break;
    case FactorKind::kSolveLowerUnit: writer.solve(true, true); break;
    case FactorKind::kSolveUpperUnit: writer.solve(false, true); break;
    default: break;
  }
}

}  // namespace baton::compiler_lite::codegen::gpu
