#include "compiler-lite/codegen/gpu/reflections.hpp"

#include "compiler-lite/codegen/gpu/held_matrix.hpp"
#include "llvm/Support/MathExtras.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

using mlir::Value;
using mlir::ValueRange;
using Values = ThreadCode::Values;

class Reflections final : public HeldMatrix {
 public:
  using HeldMatrix::HeldMatrix;

  void qr() {
    read_matrix();
    make_reflections(std::min(rows_, columns_), code_.binding(2));
    write_matrix(code_.binding(1));
  }

  void qr_panel() {
    read_matrix();
    make_reflections(columns_, code_.binding(1));
    write_matrix(code_.binding(0));
  }

  void qr_rest() {
    reflect_others(code_.binding(1), code_.binding(0), type_.getDimSize(2), code_.add(begin_, columns_), true);
  }

  void reflect(int64_t count) { reflect_others(code_.binding(1), code_.binding(2), count, code_.index(0), false); }

 private:
  // A warp has a column, and its lanes take turns with the rows.
  void reflect_others(Value taus, Value others, int64_t count, Value first_column, bool is_forward) {
    const int64_t groups = llvm::divideCeilSigned(count, kColumnsReflected);
    const Value group = code_.remainder(matrix_, groups);
    matrix_ = code_.quotient(matrix_, groups);
    held_ = code_.shared(rows_ * pitch_, element_);
    const Value given = code_.binding(0);
    move_all(rows_, columns_, [&](Value i, Value k) {
      const Value head = code_.add(begin_, k);
      const Value kept = code_.choose(code_.is_below(i, head), zero(), code_.load(given, {matrix_, i, head}));
      return code_.choose(code_.is_same(i, head), one(), kept);
    });
    const Value mine = code_.add(first_column, code_.add(code_.times(group, kColumnsReflected), warp_));
    const Value is_there = code_.is_below(mine, count), j = code_.at_most(mine, count - 1);
    const Value line = code_.shared(rows_ * kColumnsReflected, element_), line_begin = code_.times(warp_, rows_);
    const Value rows = code_.index(rows_), step = code_.index(kWarp), begin = code_.add(begin_, lane_);
    const auto place = [&](Value i) { return code_.add(line_begin, i); };
    code_.move(
        begin, rows_, kWarp, llvm::divideCeilSigned(rows_, kWarp),
        [&](Value i) {
          return code_.load(others, {matrix_, i, j});
        },
        [&](Value i, Value number) { code_.store(number, line, place(i)); });
    code_.barrier();
    each_column(columns_, [&](Value turn) {
      const Value k = is_forward ? turn : code_.subtract(code_.index(columns_ - 1), turn);
      Value sum = code_.loop(begin, rows, step, ValueRange(zero()), [&](Value i, ValueRange so_far) -> Values {
        return {code_.plus(so_far[0], code_.product(at(i, k), code_.load(line, place(i))))};
      })[0];
      sum = code_.product(code_.load(taus, {matrix_, code_.add(begin_, k)}), code_.sum_over_lanes(sum, kWarp));
      before_lanes_join_again();
      code_.loop(begin, rows, step, [&](Value i) {
        code_.store(code_.minus(code_.load(line, place(i)), code_.product(sum, at(i, k))), line, place(i));
      });
    });
    code_.when(is_there, [&] {
      code_.loop(begin, rows, step, [&](Value i) { code_.store(code_.load(line, place(i)), others, {matrix_, i, j}); });
    });
  }

  Value over_column(Value begin, Value first, llvm::function_ref<Value(Value, Value)> join) {
    return code_.loop(code_.add(begin, lane_), code_.index(rows_), code_.index(kWarp), ValueRange(first),
                      [&](Value i, ValueRange so_far) -> Values { return {join(so_far[0], i)}; })[0];
  }

  void make_reflections(int64_t count, Value taus) {
    const Value tau_held = code_.shared(1, element_);
    each_column(count, [&](Value k) {
      const Value row = code_.add(begin_, k);
      by_first_warp([&] { make_reflection(k, row, tau_held, taus); });
      code_.barrier();
      reflect_column(k, row, code_.load(tau_held, code_.index(0)));
      code_.barrier();
    });
  }

  // Column k, from its head in a row on, becomes a reflection. All is done with it divided by its largest number: squares of very small
  // ones are zero.
  void make_reflection(Value k, Value row, Value tau_held, Value taus) {
    const Value behind = code_.add(row, 1), head = at(row, k);
    Values below = {
        over_column(behind, zero(), [&](Value most, Value i) { return code_.larger(most, code_.size(at(i, k))); })};
    code_.join_lanes(below, kWarp, [&](ValueRange a, ValueRange b) -> Values { return {code_.larger(a[0], b[0])}; });
    before_lanes_join_again();
    const Value nothing = code_.is_equal(below[0], zero());
    const Value most = code_.larger(below[0], code_.size(head));
    const Value scale = code_.choose(code_.is_larger(most, zero()), most, one());
    const auto add_square = [&](Value sum, Value i) {
      const Value scaled = code_.over(at(i, k), scale);
      return code_.plus(sum, code_.product(scaled, scaled));
    };
    const Value squares = code_.sum_over_lanes(over_column(row, zero(), add_square), kWarp);
    const Value length = code_.root(squares), front = code_.over(head, scale);
    const Value beta = code_.choose(code_.is_larger(zero(), head), length, code_.minus(zero(), length));
    const Value away = code_.minus(beta, front);
    const Value tau = code_.choose(nothing, zero(), code_.over(away, code_.choose(nothing, one(), beta)));
    const Value safe = code_.choose(nothing, one(), code_.minus(front, beta));
    const Value divisor = code_.choose(nothing, one(), scale);
    before_lanes_join_again();
    code_.when(code_.is_same(warp_, code_.index(0)), [&] {
      code_.loop(code_.add(behind, lane_), code_.index(rows_), code_.index(kWarp),
                 [&](Value i) { put(code_.over(code_.over(at(i, k), divisor), safe), i, k); });
      by_first_thread([&] {
        put(code_.choose(nothing, head, code_.product(beta, scale)), row, k);
        code_.store(tau, tau_held, code_.index(0));
        code_.store(tau, taus, {matrix_, row});
      });
    });
  }

  // Takes from the columns right of column k what its reflection, with a one in a row, turns them by. A warp has a column.
  void reflect_column(Value k, Value row, Value tau) {
    const Value behind = code_.add(row, 1), first = code_.add(k, 1), end = code_.index(columns_);
    code_.loop(first, end, code_.index(warps_), [&](Value group) {
      const Value mine = code_.add(group, warp_), is_there = code_.is_below(mine, end);
      const Value j = code_.choose(is_there, mine, first);
      const Value head = at(row, j);  // Before lanes join: one of them writes it afterwards.
      Value sum = over_column(
          behind, zero(), [&](Value so_far, Value i) { return code_.plus(so_far, code_.product(at(i, k), at(i, j))); });
      sum = code_.product(tau, code_.plus(head, code_.sum_over_lanes(sum, kWarp)));
      before_lanes_join_again();
      code_.when(is_there, [&] {
        code_.loop(code_.add(behind, lane_), code_.index(rows_), code_.index(kWarp),
                   [&](Value i) { put(code_.minus(at(i, j), code_.product(sum, at(i, k))), i, j); });
        code_.when(code_.is_same(lane_, code_.index(0)), [&] { put(code_.minus(head, sum), row, j); });
      });
    });
  }
};

}  // namespace

void write_reflections(mlir::func::FuncOp kernel, FactorKind kind, const Features& features) {
  Reflections writer(kernel, features);
  switch (kind) {
    case FactorKind::kQr: writer.qr(); break;
    case FactorKind::kQrPanel: writer.qr_panel(); break;
    case FactorKind::kQrRest: writer.qr_rest(); break;
    case FactorKind::kReflect: writer.reflect(binding_type(kernel, 2).getDimSize(2)); break;
    default: break;
  }
}

}  // namespace baton::compiler_lite::codegen::gpu
