// A row of K, or of V, is read by as many neighbours of a warp as it has groups of 16 bytes; a warp reads several rows with one
// access, and has several accesses on their way. Warps take keys in turn:
//
//   for each of the warp's next keys, if some count
//     their rows of K and of V into registers
//     scores: each lane multiplies its elements, neighbours join the sums; masked
//     the largest so far; if it grew, what was summed before shrinks by exp(old - new)
//     sum += exp(score - largest); mixed += exp(score - largest) * row of V
//   the lanes that have other keys, then the warps, join what they have
//   the workgroups that share the keys are a cluster: the first one joins what all have
//   last of mixed / sum
//
// Where there are no clusters, the first of such workgroups takes all keys and the others none.
//
// Each lane has sums of its own until the end, so that lanes meet for scores only. Keys that don't count at all
// (attention_mask.hpp) come last, and only for a query whose largest score isn't far above what the mask puts in place of a score.
#include "compiler-lite/codegen/cuda/few_queries.hpp"

#include "compiler-lite/codegen/cuda/attention_parts.hpp"
#include "compiler-lite/codegen/cuda/cluster.hpp"
#include "compiler-lite/codegen/tile_sizes.hpp"

namespace baton::compiler_lite::codegen::cuda {
namespace {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace memref = mlir::memref;
using gpu::Block;
using gpu::kWarp;
using mlir::Location;
using mlir::OpBuilder;

// Rows for which there are registers for more threads and more accesses.
constexpr int64_t kVeryFewRows = 2;
constexpr int64_t kManyThreads = 512, kFewThreads = 256, kThreadsMin = 64;
constexpr int64_t kManyAccesses = 8, kFewAccesses = 4;  // Of K; as many of V.
// What a workgroup may read alone, where there are fewer than multiprocessors: some 10 us.
constexpr int64_t kBytesAlone = 1024 * 1024;

int64_t accesses_of(const Attention& attention) {
  return attention.rows <= kVeryFewRows ? kManyAccesses : kFewAccesses;
}

// Lanes that share a row of K and V: a power of two.
int64_t lanes_of(const Attention& attention, int64_t group) {
  const int64_t groups = (std::max(attention.depth, attention.width) + group - 1) / group;
  int64_t lanes = 1;
  while (lanes < groups) lanes *= 2;
  return lanes;
}

// What a warp, or a workgroup, leaves of a query: the largest score, the sum of weights, and the elements of the weighted
// sum of V.
int64_t numbers_left(int64_t elements) { return 2 + elements; }

// Writes one workgroup's rows. Its many methods are the steps of one pass over the keys, and of joining what lanes, warps and
// workgroups have of them, which share the registers and offsets that the members are.
class FewQueriesWriter : AttentionParts {
 public:
  FewQueriesWriter(OpBuilder& builder, Location location, const Attention& attention, Block& block)
      : AttentionParts(builder, location, attention, block), rows_(attention.rows) {
    lanes_ = lanes_of(attention, group_);
    accesses_ = accesses_of(attention);
    warps_ = block.threads() / kWarp;
    keys_at_once_ = kWarp / lanes_ * accesses_;
    workgroups_ = key_sharers(attention);
    sharers_ = features_.has_clusters ? workgroups_ : 1;
  }

  void write() {
    const Value number = make_workgroup_id(builder_, location_, 0);
    sharer_ = remainder(number, workgroups_);
    if (sharers_ == workgroups_) return write_batch(quotient(number, workgroups_));
    only_if(is_first_sharer(), [&] { write_batch(quotient(number, workgroups_)); });
  }

 private:
  void write_batch(Value batch) {
    read_sizes();
    place_batches(batch);
    q_ = open(attention_.scores, attention_.q, attention_.row, attention_.depth);
    k_ = open(attention_.scores, attention_.k, attention_.key, attention_.depth);
    v_ = open(attention_.mixed, attention_.v, attention_.key, attention_.width);
    element0_ = times(remainder(lane_, lanes_), group_);
    const Value aligned = both(q_.is_aligned, both(k_.is_aligned, v_.is_aligned));
    const Values begin = beginning();
    const llvm::SmallVector<mlir::Type> types(begin.size(), f32_);
    load_fixed();
    const Values of_lane = choose(
        aligned, types, [&] { return take_keys_twice(begin, true); }, [&] { return take_keys_twice(begin, false); });
    leave(join_lanes(of_lane));
    Block::barrier(builder_, location_);
    if (sharers_ == 1) {
      for_each_result([&](Value row, Value column) { store(row, column, join_warps(row, column)); });
      return;
    }
    of_workgroup_ = shared_numbers({rows_, numbers_left(attention_.width)});
    for_each_result([&](Value row, Value column) { leave_to_cluster(row, column, join_warps(row, column)); });
    cluster::barrier(builder_, location_);
    only_if(is_first_sharer(),
            [&] { for_each_result([&](Value row, Value column) { store(row, column, join_sharers(row, column)); }); });
    // Nobody leaves while the first one reads what it has.
    cluster::barrier(builder_, location_);
  }

  Value is_first_sharer() { return compare(arith::CmpIPredicate::eq, sharer_, index(0)); }

  template <typename Body>
  void for_each_result(Body body) {
    block_.strided(builder_, location_, index(rows_ * attention_.width), [&](OpBuilder& inside, Value number) {
      const OpBuilder::InsertionGuard guard(builder_);
      builder_.setInsertionPoint(inside.getInsertionBlock(), inside.getInsertionPoint());
      body(quotient(number, attention_.width), remainder(number, attention_.width));
    });
  }

  // Of each row the largest score, the sum of weights, and this lane's elements of the weighted sum of V.
  size_t state_size() const { return 2 + static_cast<size_t>(group_); }
  Values beginning() {
    Values all;
    for (int64_t row = 0; row < rows_; ++row) {
      all.push_back(infinity());
      all.append(state_size() - 1, number(0));
    }
    return all;
  }

  // With a mask: first the keys that count; then, if the result needs them, those that do not count.
  Values take_keys_twice(const Values& begin, bool aligned) {
    if (!mask_) return take_all_keys(begin, aligned, {});
    return loop(index(2), 1, begin, [&](Value pass, ValueRange so_far) {
      const Value is_first = compare(arith::CmpIPredicate::eq, pass, index(0));
      const Value wanted = choose(
          is_first, builder_.getI1Type(), [&] { return Values{truth(true)}; },
          [&] { return Values{wants_all(Values(so_far))}; })[0];
      const llvm::SmallVector<mlir::Type> types(begin.size(), f32_);
      return choose(
          wanted, types, [&] { return take_all_keys(Values(so_far), aligned, is_first); },
          [&] { return Values(so_far); });
    });
  }
  // Whether there is a query beside whose largest score, which some lane has, what stands for a masked one is more than nothing.
  Value wants_all(const Values& state) {
    Value wants = truth(false);
    for (size_t row = 0; row < state.size(); row += state_size()) {
      wants = select(holds_for_any_thread(is_far_above_nothing(state[row], 1)), wants, truth(true));
    }
    return wants;
  }

  // `is_first`: a warp leaves keys out of which none counts; else it takes these alone. Null: there are none.
  Values take_all_keys(const Values& begin, bool aligned, Value is_first) {
    llvm::SmallVector<Values> queries;
    for (int64_t row = 0; row < rows_; ++row) queries.push_back(numbers_of(load(q_, index(row), aligned), q_));
    const int64_t keys_of_turn = keys_at_once_ * warps_ * sharers_;
    const Value taker = add(times(warp_, sharers_), sharers_ == 1 ? index(0) : sharer_);
    const Value turns = quotient(add(sizes_[attention_.key], keys_of_turn - 1), keys_of_turn);
    return loop(turns, 1, begin, [&](Value turn, ValueRange so_far) {
      const Value first = add(times(turn, keys_of_turn), times(taker, keys_at_once_));
      const auto take = [&] {
        return take_keys(queries, add(first, quotient(lane_, lanes_)), Values(so_far), aligned);
      };
      if (!mask_) return take();
      const Value none = ask(index(0), rows_, first, keys_at_once_).none;
      const llvm::SmallVector<mlir::Type> types(begin.size(), f32_);
      return choose(
          compare(arith::CmpIPredicate::eq, is_first, none), types, [&] { return Values(so_far); }, take);
    });
  }

  Values take_keys(const llvm::SmallVector<Values>& queries, Value first, Values state, bool aligned) {
    Values keys;
    llvm::SmallVector<Values> of_k, of_v;
    for (int64_t i = 0; i < accesses_; ++i) keys.push_back(add(first, i * (kWarp / lanes_)));
    const auto load_all = [&](const Rows& rows, llvm::SmallVector<Values>& loaded) {
      for (const Value key : keys) loaded.push_back(load(rows, least(key, last_of(attention_.key)), aligned));
    };
    load_all(k_, of_k);
    load_all(v_, of_v);
    // A weight of 0 times infinity is no number.
    for (size_t i = 0; i < keys.size(); ++i) {
      const Value is_key = is_below(keys[i], sizes_[attention_.key]);
      for (Value& each : of_v[i]) {
        each = select(is_key, each, builder_.create<LLVM::ZeroOp>(location_, each.getType()));
      }
    }
    for (Values& row : of_k) row = numbers_of(row, k_);
    for (Values& row : of_v) row = numbers_of(row, v_);
    for (size_t row = 0; row < queries.size(); ++row) {
      Values scores;
      for (size_t i = 0; i < keys.size(); ++i) scores.push_back(score(queries[row], of_k[i], row, keys[i]));
      weigh(scores, of_v, llvm::MutableArrayRef<Value>(state).slice(row * state_size(), state_size()));
    }
    return state;
  }

  // A lane's group of a row as it lies in memory: one vector, or each element where it doesn't lie so.
  Values load(const Rows& rows, Value row, bool aligned) {
    const mlir::Type stored = gpu::stored_type(element_);
    if (aligned) {
      const Value from = address(rows, row, inside(rows, element0_));
      return {builder_.create<LLVM::LoadOp>(location_, mlir::VectorType::get({group_}, stored), from, kGroupBytes)};
    }
    Values elements;
    for (int64_t i = 0; i < group_; ++i) {
      const Value from = address(rows, row, inside(rows, add(element0_, i)));
      elements.push_back(builder_.create<LLVM::LoadOp>(location_, stored, from, static_cast<unsigned>(element_bytes_)));
    }
    return elements;
  }
  // Who is beyond a row's end reads its beginning.
  Value inside(const Rows& rows, Value element) {
    if (rows.size == lanes_ * group_) return element;
    return select(is_below(element, index(rows.size)), element, index(0));
  }

  // In f32, zeros beyond the row's end.
  Values numbers_of(const Values& loaded, const Rows& rows) {
    Values numbers;
    for (int64_t i = 0; i < group_; ++i) {
      Value element = loaded[loaded.size() == 1 ? 0 : static_cast<size_t>(i)];
      if (llvm::isa<mlir::VectorType>(element.getType())) {
        element = builder_.create<LLVM::ExtractElementOp>(location_, element, make_i32(builder_, location_, i));
      }
      element = gpu::from_stored(builder_, location_, element, element_);
      Value one = convert_element(builder_, location_, element, f32_, false);
      if (rows.size != lanes_ * group_) {
        one = select(is_below(add(element0_, i), index(rows.size)), one, number(0));
      }
      numbers.push_back(one);
    }
    return numbers;
  }

  Value add_product(Value sum, Value a, Value b) {
    const Value product = builder_.create<arith::MulFOp>(location_, a, b, arith::FastMathFlags::contract);
    return builder_.create<arith::AddFOp>(location_, sum, product, arith::FastMathFlags::contract);
  }

  Value score(const Values& query, const Values& of_k, size_t row, Value key) {
    Value sum = number(0);
    for (size_t i = 0; i < query.size(); ++i) sum = add_product(sum, query[i], of_k[i]);
    for (int64_t distance = lanes_ / 2; distance > 0; distance /= 2) sum = sum_of(sum, from_lane(sum, distance));
    if (attention_.masked) sum = compute_masked(sum, index(static_cast<int64_t>(row)), key);
    return select(is_below(key, sizes_[attention_.key]), sum, infinity());
  }

  // The number to subtract before the exponential: 0 while all scores are masked.
  Value base_of(Value largest) {
    const Value none = builder_.create<arith::CmpFOp>(location_, arith::CmpFPredicate::OEQ, largest, infinity());
    return select(none, number(0), largest);
  }
  Value larger(Value a, Value b) { return builder_.create<arith::MaximumFOp>(location_, a, b); }

  void weigh(Values scores, llvm::ArrayRef<Values> of_v, llvm::MutableArrayRef<Value> state) {
    Value largest = state[0];
    for (const Value score : scores) largest = larger(largest, score);
    const Value base = base_of(largest), shrink = power(minus(state[0], base));
    for (Value& each : state.drop_front()) each = multiple(each, shrink);
    for (size_t i = 0; i < scores.size(); ++i) {
      const Value weight = power(minus(scores[i], base));
      state[1] = sum_of(state[1], weight);
      for (size_t e = 0; e < of_v[i].size(); ++e) state[2 + e] = add_product(state[2 + e], weight, of_v[i][e]);
    }
    state[0] = largest;
  }

  // With what the lanes have that read other keys.
  Values join_lanes(Values state) {
    for (int64_t distance = lanes_; distance < kWarp; distance *= 2) {
      for (size_t row = 0; row < state.size(); row += state_size()) {
        const Value other = from_lane(state[row], distance), largest = larger(state[row], other);
        const Value base = base_of(largest);
        const Value share = power(minus(state[row], base)), other_share = power(minus(other, base));
        for (size_t i = row + 1; i < row + state_size(); ++i) {
          const Value given = from_lane(state[i], distance);
          state[i] = add_product(multiple(state[i], share), given, other_share);
        }
        state[row] = largest;
      }
    }
    return state;
  }

  Value shared_numbers(llvm::ArrayRef<int64_t> sizes) {
    return builder_.create<memref::AllocOp>(location_, mlir::MemRefType::get(sizes, f32_),
                                            builder_.getI64IntegerAttr(16));
  }

  // Shared memory holds, for each warp and row, the largest score, the sum and the elements.
  void leave(const Values& state) {
    left_ = shared_numbers({warps_, rows_, numbers_left(lanes_ * group_)});
    only_if(is_below(lane_, index(lanes_)), [&] {
      for (int64_t row = 0; row < rows_; ++row) {
        for (size_t i = 0; i < state_size(); ++i) {
          const auto at = static_cast<int64_t>(i);
          const Value place = i < 2 ? index(at) : add(element0_, at);
          builder_.create<memref::StoreOp>(location_, state[static_cast<size_t>(row) * state_size() + i], left_,
                                           ValueRange{warp_, index(row), place});
        }
      }
    });
  }

  // The largest score of several who took other keys, the sum of weights, and one element of the weighted sum of V.
  struct Joined {
    Value largest, sum, mixed;
  };
  // `read(i, place)`: a number that the i-th of them left.
  template <typename Read>
  Joined join(int64_t count, Value column, Read read) {
    Values largest;
    Joined all{infinity(), number(0), number(0)};
    for (int64_t i = 0; i < count; ++i) {
      largest.push_back(read(i, index(0)));
      all.largest = larger(all.largest, largest.back());
    }
    const Value base = base_of(all.largest), place = add(column, 2);
    for (int64_t i = 0; i < count; ++i) {
      const Value share = power(minus(largest[static_cast<size_t>(i)], base));
      all.sum = add_product(all.sum, read(i, index(1)), share);
      all.mixed = add_product(all.mixed, read(i, place), share);
    }
    return all;
  }
  Joined join_warps(Value row, Value column) {
    return join(warps_, column, [&](int64_t warp, Value place) -> Value {
      return builder_.create<memref::LoadOp>(location_, left_, ValueRange{index(warp), row, place});
    });
  }
  Joined join_sharers(Value row, Value column) {
    const gpu::Memory memory = gpu::open_memory(builder_, location_, of_workgroup_);
    Values of_sharers;
    for (int64_t i = 0; i < sharers_; ++i) of_sharers.push_back(cluster::address(builder_, location_, memory.base, i));
    return join(sharers_, column, [&](int64_t i, Value place) -> Value {
      gpu::Memory other = memory;
      other.base = of_sharers[static_cast<size_t>(i)];
      return builder_.create<LLVM::LoadOp>(location_, f32_,
                                           gpu::address_of(builder_, location_, other, ValueRange{row, place}));
    });
  }

  // The numbers of all elements are the same: who has the first one leaves them.
  void leave_to_cluster(Value row, Value column, const Joined& joined) {
    const auto put = [&](Value value, Value place) {
      builder_.create<memref::StoreOp>(location_, value, of_workgroup_, ValueRange{row, place});
    };
    put(joined.mixed, add(column, 2));
    only_if(compare(arith::CmpIPredicate::eq, column, index(0)), [&] {
      put(joined.largest, index(0));
      put(joined.sum, index(1));
    });
  }

  void store(Value row, Value column, const Joined& joined) {
    // Without keys nothing is summed.
    const Value is_empty = compare(arith::CmpIPredicate::eq, sizes_[attention_.key], index(0));
    const Value share = builder_.create<arith::DivFOp>(location_, joined.mixed, joined.sum);
    const Value value = select(is_empty, number(0), share);
    attention_.last ? store_last(row, column, value) : store_mixed(row, column, value);
  }

  int64_t rows_, lanes_;
  int64_t accesses_, warps_, keys_at_once_;
  int64_t workgroups_, sharers_;  // For a batch, and how many of them take keys.
  Rows q_, k_, v_;
  Value element0_;             // The first of this lane's, in a row.
  Value left_, of_workgroup_;  // Numbers in shared memory.
  Value sharer_;
};

}  // namespace

bool has_few_queries(const Attention& attention, mlir::Type element, const gpu::Features& features) {
  if (attention.rows < 1 || attention.rows > kFewQueries) return false;
  if (attention.depth > kAttentionSizeMax || attention.width > kAttentionSizeMax) return false;
  if (attention.rows > 1) return true;
  if (mlir::ShapedType::isDynamic(attention.keys) || mlir::ShapedType::isDynamic(attention.batches)) return false;
  const int64_t bytes = attention.keys * (attention.depth + attention.width) * gpu::stored_bytes(element);
  const int64_t sharers = features.has_clusters ? key_sharers(attention) : 1;
  return attention.batches >= kMultiprocessors || bytes <= kBytesAlone * sharers;
}

int64_t bytes_of_few_queries(const Attention& attention, mlir::Type element) {
  const int64_t group = kGroupBytes / gpu::stored_bytes(element);
  const int64_t of_warps =
      threads_of_few_queries(attention, element) / kWarp * numbers_left(lanes_of(attention, group) * group);
  const int64_t of_workgroup = key_sharers(attention) > 1 ? numbers_left(attention.width) : 0;
  return attention.rows * (of_warps + of_workgroup) * int64_t{sizeof(float)};
}

int64_t threads_of_few_queries(const Attention& attention, mlir::Type element) {
  int64_t threads = attention.rows <= kVeryFewRows ? kManyThreads : kFewThreads;
  const int64_t sharers = key_sharers(attention), group = kGroupBytes / gpu::stored_bytes(element);
  if (sharers == 1) return threads;
  // No more than all keys need.
  while (threads > kThreadsMin &&
         sharers * threads * accesses_of(attention) > attention.keys * lanes_of(attention, group)) {
    threads /= 2;
  }
  return threads;
}

void write_few_queries(OpBuilder& builder, Location location, const Attention& attention, Block& block) {
  FewQueriesWriter(builder, location, attention, block).write();
}

}  // namespace baton::compiler_lite::codegen::cuda
