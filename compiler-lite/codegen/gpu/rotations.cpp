#include "compiler-lite/codegen/gpu/rotations.hpp"

#include <cmath>
#include <limits>

#include "compiler-lite/codegen/gpu/thread_code.hpp"
#include "compiler-lite/codegen/matrix_work.hpp"
#include "llvm/Support/MathExtras.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

using mlir::Value;
using Values = ThreadCode::Values;

// Registers of a multiprocessor for numbers of both lines that its threads hold; where these are more, they read them twice.
constexpr int64_t kRegistersMax = 32 * 1024, kWordsMax = 64;

mlir::MemRefType lines_of(mlir::func::FuncOp kernel) {
  const auto types = kernel->getAttrOfType<mlir::ArrayAttr>(kBindingTypes);
  return llvm::cast<mlir::MemRefType>(llvm::cast<mlir::TypeAttr>(types[0]).getValue());
}

// A pair's lines as it turns them: what it multiplies them by, and whether it does.
struct Turn {
  Value cosine, sine, counts;
};

class RotationsWriter {
 public:
  RotationsWriter(mlir::func::FuncOp kernel, const Features& features, const Rotations& rotations)
      : code_(kernel, features), rotations_(rotations), type_(lines_of(kernel)), element_(type_.getElementType()) {
    numbers_ = type_.getDimSize(2);
    lanes_ = threads_of_line(numbers_);
    room_ = room_of_line(numbers_);
    lines_ = 2 * rotations.panel;
  }

  void write() {
    held_ = code_.shared(lines_ * room_, element_);
    global_ = code_.binding(0);
    lane_ = code_.remainder(code_.thread(), lanes_);
    slot_ = code_.quotient(code_.thread(), lanes_);
    find_panels();
    const auto read = [&](Value at) {
      const Place place = place_of(at);
      const Value line = code_.at_most(place.line, type_.getDimSize(1) - 1);
      const Value held = code_.load(global_, {matrix_, line, code_.at_most(place.number, numbers_ - 1)});
      return code_.choose(place.exists, held, code_.number(element_, 0));
    };
    code_.move(lines_ * room_, read, [&](Value at, Value number) { code_.store(number, held_, at); });
    code_.barrier();
    found_ = code_.shared(1, code_.word(0).getType());
    rotations_.is_whole() ? turn_until_orthogonal() : turn_once();
    code_.strided(lines_ * room_, [&](Value at) {
      const Place place = place_of(at);
      code_.when(place.exists, [&] {
        code_.store(code_.load(held_, at), global_, {matrix_, place.line, place.number});
      });
    });
  }

 private:
  // Which matrix and which of its panels the block has.
  void find_panels() {
    const int64_t pairs = rotations_.panels / 2;
    matrix_ = code_.quotient(code_.workgroup(), pairs);
    first_ = code_.index(0);
    second_ = code_.index(rotations_.panel);
    if (rotations_.is_whole()) return;
    round_ = code_.to_index(code_.constant_word(0));
    const Value pair = code_.remainder(code_.workgroup(), pairs);
    const Value other = code_.subtract(code_.index(rotations_.panels - 1), pair);
    first_ = code_.times(player(pair, round_, rotations_.panels), rotations_.panel);
    second_ = code_.times(player(other, round_, rotations_.panels), rotations_.panel);
  }

  // Who sits at a place in a round, of `count` players: the first one stays, the others move on by one.
  Value player(Value place, Value round, int64_t count) {
    const Value moved = code_.wrapped(code_.add(code_.subtract(place, code_.index(1)), round), count - 1);
    return code_.choose(code_.is_same(place, code_.index(0)), place, code_.add(moved, 1));
  }

  // Where a number of the block's lines belongs. There is room for some that don't exist.
  struct Place {
    Value line, number, exists;
  };
  Place place_of(Value at) {
    const Value local = code_.quotient(at, room_), number = code_.remainder(at, room_);
    const Value in_first = code_.is_below(local, rotations_.panel);
    const Value in_second = code_.add(second_, code_.subtract(local, code_.index(rotations_.panel)));
    const Value line = code_.choose(in_first, code_.add(first_, local), in_second);
    return {line, number, code_.both(code_.is_below(line, type_.getDimSize(1)), code_.is_below(number, numbers_))};
  }

  void turn_until_orthogonal() {
    code_.repeat(kSweepsMax, [&](Value) {
      code_.when(code_.is_same(code_.thread(), code_.index(0)),
                 [&] { code_.store(code_.word(0), found_, code_.index(0)); });
      code_.barrier();
      const Value mine = all_rounds();
      code_.when(code_.is_not_zero(mine), [&] { code_.store(code_.word(1), found_, code_.index(0)); });
      code_.barrier();
      const Value again = code_.is_not_zero(code_.load(found_, code_.index(0)));
      code_.barrier();  // Before it is 0 again.
      return again;
    });
  }

  // In the first round of panels lines of one meet, too; later only those of both.
  void turn_once() {
    const Value is_first = code_.is_same(round_, code_.index(0));
    const Value mine = code_.either_way(
        is_first, code_.word(0).getType(), [&] { return all_rounds(); }, [&] { return rounds_across(); });
    code_.when(code_.is_not_zero(mine), [&] { code_.store(code_.word(1), code_.binding(1), code_.index(0)); });
  }

  Value all_rounds() {
    return rounds(lines_ - 1, [&](Value round, Value pair) -> std::pair<Value, Value> {
      const Value other = code_.subtract(code_.index(lines_ - 1), pair);
      return {player(pair, round, lines_), player(other, round, lines_)};
    });
  }

  Value rounds_across() {
    return rounds(rotations_.panel, [&](Value round, Value pair) -> std::pair<Value, Value> {
      const Value other = code_.wrapped(code_.add(pair, round), rotations_.panel);
      return {pair, code_.add(other, rotations_.panel)};
    });
  }

  // 1 if this thread has turned lines of its own in any.
  Value rounds(int64_t count, llvm::function_ref<std::pair<Value, Value>(Value, Value)> pair_of) {
    const Value one = code_.index(1);
    const Values none = {code_.word(0)};
    return code_.loop(code_.index(0), code_.index(count), one, none,
                      [&](Value round, mlir::ValueRange found) -> Values {
                        Value mine = found[0];
                        const int64_t slots = code_.block().threads() / lanes_;
                        for (int64_t first = 0; first < rotations_.panel; first += slots) {
                          const Value pair = code_.add(slot_, first);
                          const bool all_there = first + slots <= rotations_.panel;
                          const Value is_there = all_there ? Value() : code_.is_below(pair, rotations_.panel);
                          const Value known = all_there ? pair : code_.choose(is_there, pair, code_.index(0));
                          const auto [left, right] = pair_of(round, known);
                          mine = code_.either(mine, turn_pair(left, right, is_there));
                          code_.barrier();
                        }
                        return {mine};
                      })[0];
  }

  int64_t steps() const { return room_ / lanes_; }
  bool in_registers() {
    const int64_t words = 2 * steps() * element_.getIntOrFloatBitWidth() / 32;
    return words <= kWordsMax && words * code_.block().threads() <= kRegistersMax;
  }

  Value turn_pair(Value left, Value right, Value is_there) {
    const Value p = code_.add(code_.times(left, room_), lane_), q = code_.add(code_.times(right, room_), lane_);
    return in_registers() ? turn_in_registers(p, q, is_there) : turn_in_memory(p, q, is_there);
  }

  // A number of a line counts in step i of its threads: always, never, or as `at` says.
  void add_products(Values& sums, Value a, Value b, int64_t step) {
    const int64_t begin = step * lanes_;
    if (begin >= rotations_.compared) return;
    if (begin + lanes_ > rotations_.compared) {
      const Value counts = code_.is_below(lane_, rotations_.compared - begin), zero = code_.number(element_, 0);
      a = code_.choose(counts, a, zero);
      b = code_.choose(counts, b, zero);
    }
    add_products(sums, a, b);
  }
  void add_products(Values& sums, Value a, Value b) {
    sums[0] = code_.plus(sums[0], code_.product(a, a));
    sums[1] = code_.plus(sums[1], code_.product(b, b));
    sums[2] = code_.plus(sums[2], code_.product(a, b));
  }

  Value turn_in_registers(Value p, Value q, Value is_there) {
    Values a, b, sums(3, code_.number(element_, 0));
    for (int64_t step = 0; step < steps(); ++step) {
      a.push_back(code_.load(held_, code_.add(p, step * lanes_)));
      b.push_back(code_.load(held_, code_.add(q, step * lanes_)));
      add_products(sums, a.back(), b.back(), step);
    }
    const Turn turn = find_turn(sums, is_there);
    code_.when(turn.counts, [&] {
      for (int64_t step = 0; step < steps(); ++step) {
        const auto i = static_cast<size_t>(step);
        write_turned(turn, a[i], b[i], code_.add(p, step * lanes_), code_.add(q, step * lanes_));
      }
    });
    return code_.as_word(turn.counts);
  }

  Value turn_in_memory(Value p, Value q, Value is_there) {
    const int64_t whole = rotations_.compared / lanes_;
    const Value zero = code_.index(0), one = code_.index(1);
    const auto place = [&](Value line, Value step) { return code_.add(line, code_.times(step, lanes_)); };
    Values sums(3, code_.number(element_, 0));
    sums = code_.loop(zero, code_.index(whole), one, sums, [&](Value step, mlir::ValueRange so_far) {
      Values next(so_far);
      add_products(next, code_.load(held_, place(p, step)), code_.load(held_, place(q, step)));
      return next;
    });
    if (whole * lanes_ < rotations_.compared) {
      const Value last = code_.index(whole);
      add_products(sums, code_.load(held_, place(p, last)), code_.load(held_, place(q, last)), whole);
    }
    const Turn turn = find_turn(sums, is_there);
    code_.when(turn.counts, [&] {
      code_.loop(zero, code_.index(steps()), one, [&](Value step) {
        const Value of_p = place(p, step), of_q = place(q, step);
        write_turned(turn, code_.load(held_, of_p), code_.load(held_, of_q), of_p, of_q);
      });
    });
    return code_.as_word(turn.counts);
  }

  void write_turned(const Turn& turn, Value a, Value b, Value p, Value q) {
    code_.store(code_.minus(code_.product(turn.cosine, a), code_.product(turn.sine, b)), held_, p);
    code_.store(code_.plus(code_.product(turn.sine, a), code_.product(turn.cosine, b)), held_, q);
  }

  // The rotation that makes lines with these squares and this product orthogonal.
  Turn find_turn(Values sums, Value is_there) {
    code_.sum_over_lanes(sums, lanes_);
    const double precision = element_.isF64() ? std::numeric_limits<double>::epsilon()
                                              : static_cast<double>(std::numeric_limits<float>::epsilon());
    const double tolerance = precision * std::max(8.0, std::sqrt(static_cast<double>(rotations_.compared)));
    const Value first = sums[0], last = sums[1], between = sums[2];
    const Value zero = code_.number(element_, 0), one = code_.number(element_, 1);
    const Value bound =
        code_.plus(code_.product(code_.product(code_.root(first), code_.root(last)), code_.number(element_, tolerance)),
                   code_.number(element_, precision * precision * precision));
    Value counts = code_.is_larger(code_.size(between), bound);
    if (is_there) counts = code_.both(counts, is_there);
    const Value safe = code_.choose(counts, between, one);
    const Value slope = code_.over(code_.minus(last, first), code_.plus(safe, safe));
    const Value steep = code_.plus(code_.size(slope), code_.root(code_.plus(code_.product(slope, slope), one)));
    const Value sign = code_.choose(code_.is_larger(zero, slope), code_.number(element_, -1), one);
    const Value tangent = code_.over(sign, steep);
    const Value cosine = code_.over(one, code_.root(code_.plus(code_.product(tangent, tangent), one)));
    return {cosine, code_.product(cosine, tangent), counts};
  }

  ThreadCode code_;
  Rotations rotations_;
  mlir::MemRefType type_;
  mlir::Type element_;
  int64_t numbers_, lanes_, room_, lines_;
  Value held_, global_, found_, lane_, slot_, matrix_, first_, second_, round_;
};

}  // namespace

void write_rotations_kernel(mlir::func::FuncOp kernel, const Features& features) {
  const Rotations rotations = *read_rotations(kernel);
  const int64_t threads = threads_of_lines(lines_of(kernel), rotations.panel);
  kernel->setAttr("workgroup_size", mlir::OpBuilder(kernel).getIndexArrayAttr({threads, 1, 1}));
  RotationsWriter(kernel, features, rotations).write();
  kernel->removeAttr(kRotations);
  kernel->removeAttr(kBindingTypes);
}

}  // namespace baton::compiler_lite::codegen::gpu
