// Four warps take 16 rows of Q each, and go along all keys, 64 at a time:
//
//   for each 64 keys of which some count
//     begin to copy the next rows of K and V to shared memory; wait for these; barrier
//     scores = Q K, in registers; masked
//     the largest so far of each row; if it grew, what was summed before shrinks by exp(old - new)
//     weights = exp(scores - largest), as halves: a product's sums lie in registers as its first operand does
//     sum += weights; mixed += weights V
//   last of mixed / sum
//
// Keys that don't count at all for these rows (attention_mask.hpp) come last, and only for a row whose largest score isn't far
// above what the mask puts in place of a score.
//
// Elements for which there are no tensor cores are multiplied one by one, with the sums where tensor cores have them: a
// thread's scores are in two rows, and four threads that follow each other share these.
//
// Rows of K and V lie in shared memory one after the other, 16 bytes apart, so that eight rows lie in different banks; where
// the four warps multiply at once, as those instructions want them (warpgroup.hpp).
#include "compiler-lite/codegen/cuda/attention.hpp"

#include <limits>

#include "compiler-lite/codegen/cuda/attention_parts.hpp"
#include "compiler-lite/codegen/cuda/few_queries.hpp"
#include "compiler-lite/codegen/cuda/tensor_core.hpp"
#include "compiler-lite/codegen/cuda/warpgroup.hpp"

namespace baton::compiler_lite::codegen::cuda {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace LLVM = mlir::LLVM;
namespace memref = mlir::memref;
namespace NVVM = mlir::NVVM;
using gpu::Block;
using gpu::Features;
using gpu::kWarp;
using gpu::Memory;
using gpu::Values;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

constexpr int64_t kWarps = 4, kThreads = kWarps * kWarp;
constexpr int64_t kWarpRows = kAttentionRows / kWarps, kKeys = 64;
constexpr int64_t kRun = 4;                      // Elements of Q and K that are read at once, without tensor cores.
constexpr int64_t kPart = 16, kPartColumns = 8;  // What a warp multiplies at once.

bool is_for_tensor_cores(mlir::Type element, const Features& features) {
  return element.isF16() || (element.isBF16() && features.has_async_copy);
}
int64_t stages_of(const Features& features) { return features.has_async_copy ? 2 : 1; }
// Of a row in shared memory: whole parts, and the distance to the next row.
int64_t padded(int64_t size) { return (size + kPart - 1) / kPart * kPart; }
int64_t line_bytes_of(int64_t size, mlir::Type element) {
  return padded(size) * gpu::stored_bytes(element) + kGroupBytes;
}
// The same for warpgroups: panels of 64 elements of all rows.
constexpr int64_t kLineGroups = warpgroup::kLineBytes / kGroupBytes;
constexpr int64_t kPanelBytes = kKeys * warpgroup::kLineBytes;
int64_t panels_of(int64_t size) { return (size + kKeys - 1) / kKeys; }

// Writes one workgroup's rows. Its many methods are the steps of one pass over the keys, which share the registers, buffers
// and offsets that the members are.
class AttentionWriter : AttentionParts {
 public:
  AttentionWriter(OpBuilder& builder, Location location, const Attention& attention, Block& block)
      : AttentionParts(builder, location, attention, block) {
    by_tensor_cores_ = is_for_tensor_cores(element_, features_);
    by_warpgroups_ = by_tensor_cores_ && features_.has_warpgroups;
    stages_ = stages_of(features_);
  }

  void write() {
    read_sizes();
    place();
    q_ = {open(attention_.scores, attention_.q, attention_.row, attention_.depth), by_warpgroups_};
    k_ = {open(attention_.scores, attention_.k, attention_.key, attention_.depth), by_warpgroups_};
    v_ = {open(attention_.mixed, attention_.v, attention_.key, attention_.width), by_warpgroups_};
    q_.shared = slice_memory(q_, 1);
    k_.shared = slice_memory(k_, stages_);
    v_.shared = slice_memory(v_, stages_);
    bring(q_, row0_, index(0));
    end_group();
    blocks_ = quotient(add(sizes_[attention_.key], kKeys - 1), kKeys);
    load_fixed();
    const AttentionMask::Range counting = blocks_that_count();
    begin_copies(counting);
    wait(features_.has_async_copy ? 1 : 0);
    if (by_tensor_cores_ && !by_warpgroups_) queries_ = load_queries();
    Values last = beginning();
    if (mask_) {
      last = loop(index(2), 1, last, [&](Value turn, ValueRange so_far) {
        const Value is_first = compare(arith::CmpIPredicate::eq, turn, index(0));
        const AttentionMask::Range blocks = blocks_of(is_first, counting, State::of(so_far));
        choose(
            is_first, {}, [] { return Values(); }, [&] { return begin_copies(blocks); });
        return take_blocks(blocks, Values(so_far), is_first);
      });
    } else {
      last = take_blocks(counting, last, {});
    }
    if (features_.has_async_copy) tensor_core::wait_for_groups(builder_, location_, 0);
    store(State::of(last));
  }

 private:
  // With their places in shared memory.
  struct SharedRows : Rows {
    SharedRows() = default;
    SharedRows(const Rows& rows, bool panels) : Rows(rows), in_panels(panels) {}
    bool in_panels = false;  // As warpgroups want them.
    Value shared;
  };
  int64_t line_bytes(const SharedRows& rows) const { return line_bytes_of(rows.size, element_); }
  int64_t stage_bytes(const SharedRows& rows) const {
    return rows.in_panels ? panels_of(rows.size) * kPanelBytes : kKeys * line_bytes(rows);
  }
  int64_t groups(const Rows& rows) const { return padded(rows.size) / group_; }
  // Where a group of a row lies in a stage.
  Value place_of(const SharedRows& rows, Value line, Value group) {
    if (!rows.in_panels) return add(times(line, line_bytes(rows)), times(group, kGroupBytes));
    const Value panel = quotient(group, kLineGroups), in_line = remainder(group, kLineGroups);
    const Value turned = builder_.createOrFold<arith::XOrIOp>(location_, in_line, remainder(line, kLineGroups));
    return add(times(panel, kPanelBytes), add(times(line, warpgroup::kLineBytes), times(turned, kGroupBytes)));
  }
  // For a thread's two rows: the largest score, the sum of weights, and the weighted sums of V.
  struct State {
    Value largest[2], sum[2];
    Values mixed;

    static State of(ValueRange all) { return {{all[0], all[1]}, {all[2], all[3]}, Values(all.drop_front(4))}; }
    Values all() const {
      Values all{largest[0], largest[1], sum[0], sum[1]};
      llvm::append_range(all, mixed);
      return all;
    }
  };

  // Workgroups of the same batch follow each other.
  void place() {
    const Value rest = make_workgroup_id(builder_, location_, 0);
    const Value row_blocks = quotient(add(sizes_[attention_.row], kAttentionRows - 1), kAttentionRows);
    // The last rows first: where a mask hides later keys they take longest.
    const Value row_block = builder_.create<arith::RemUIOp>(location_, rest, row_blocks);
    const Value last_block = builder_.create<arith::SubIOp>(location_, row_blocks, index(1));
    row0_ = times(builder_.create<arith::SubIOp>(location_, last_block, row_block), kAttentionRows);
    place_batches(builder_.create<arith::DivUIOp>(location_, rest, row_blocks));
    // A thread's first row; the second one is eight further on.
    row_ = add(row0_, add(times(warp_, kWarpRows), quotient(lane_, 4)));
    column_ = times(remainder(lane_, 4), 2);
  }

  // Of `count` rows from `first` on, and of a block of keys.
  AttentionMask::Answer ask_of_block(Value first, int64_t count, Value block) {
    return ask(first, count, times(block, kKeys), kKeys);
  }

  // From the first block of keys of which some count for the workgroup's rows, to behind the last such one. Each lane asks for
  // one block in 32.
  AttentionMask::Range blocks_that_count() {
    if (!mask_) return {index(0), blocks_};
    const Value none_yet = make_i32(builder_, location_, 0);
    const Values ends = loop(
        quotient(add(blocks_, kWarp - 1), kWarp), 1, {as_word(blocks_), none_yet}, [&](Value turn, ValueRange so_far) {
          const Value block = add(times(turn, kWarp), lane_), is_block = is_below(block, blocks_);
          const Value counts = select(ask_of_block(row0_, kAttentionRows, block).none, truth(false), is_block);
          const Value first = builder_.create<arith::MinUIOp>(location_, so_far[0], as_word(block));
          const Value last = builder_.create<arith::MaxUIOp>(location_, so_far[1], as_word(add(block, 1)));
          return Values{select(counts, first, so_far[0]), select(counts, last, so_far[1])};
        });
    Value first = ends[0], last = ends[1];
    for (int64_t distance = 1; distance < kWarp; distance *= 2) {
      first = builder_.create<arith::MinUIOp>(location_, first, from_lane(first, distance));
      last = builder_.create<arith::MaxUIOp>(location_, last, from_lane(last, distance));
    }
    return {as_index(first), as_index(last)};
  }
  Value as_word(Value number) {
    return builder_.create<arith::IndexCastUIOp>(location_, builder_.getI32Type(), number);
  }
  Value as_index(Value number) {
    return builder_.create<arith::IndexCastUIOp>(location_, builder_.getIndexType(), number);
  }

  // The blocks of a turn: first those of which some count, then, if anybody wants what doesn't count, all of them.
  AttentionMask::Range blocks_of(Value is_first, const AttentionMask::Range& counting, const State& state) {
    const Value wanted = choose(
        is_first, builder_.getI1Type(), [&] { return Values{is_first}; }, [&] { return Values{wants_all(state)}; })[0];
    const Value last = select(is_first, counting.last, select(wanted, blocks_, index(0)));
    return {select(is_first, counting.first, index(0)), last};
  }
  // Whether there is a row beside whose largest score what stands for a masked one is more than nothing.
  Value wants_all(const State& state) {
    Value wants = truth(false);
    for (const Value largest : state.largest) {
      wants = select(is_far_above_nothing(largest, is_half_ ? kLog2OfE : 1), wants, truth(true));
    }
    return holds_for_any_thread(wants);
  }

  Values begin_copies(const AttentionMask::Range& blocks) {
    if (!features_.has_async_copy) return {};
    only_if(is_below(blocks.first, blocks.last), [&] { bring_keys(blocks.first); });
    end_group();
    return {};
  }

  // `is_first`: warps, or all four, leave blocks out of which none count for their rows; else they take these alone. Null:
  // there are none.
  Values take_blocks(const AttentionMask::Range& blocks, const Values& before, Value is_first) {
    const Value count = builder_.createOrFold<arith::SubIOp>(location_, blocks.last, least(blocks.first, blocks.last));
    return loop(count, 1, before, [&](Value number, ValueRange so_far) {
      const Value block = add(blocks.first, number), next = add(block, 1);
      if (features_.has_async_copy) {
        only_if(is_below(next, blocks.last), [&] { bring_keys(next); });
        end_group();
        wait(1);
      } else {
        Block::barrier(builder_, location_);
        bring_keys(block);
        Block::barrier(builder_, location_);
      }
      const Values after = take_block(block, Values(so_far), is_first);
      if (features_.has_async_copy) Block::barrier(builder_, location_);  // Before the stage is copied to again.
      return after;
    });
  }

  Values take_block(Value block, const Values& before, Value is_first) {
    const Value is_whole = fits(times(block, kKeys), kKeys, sizes_[attention_.key]);
    if (!mask_) return take_keys(block, is_whole, State::of(before)).all();
    const AttentionMask::Answer answer =
        by_warpgroups_ ? ask_of_block(row0_, kAttentionRows, block) : ask_of_block(warp_row0(), kWarpRows, block);
    const Value is_left_out = compare(arith::CmpIPredicate::eq, is_first, answer.none);
    const llvm::SmallVector<mlir::Type> types(before.size(), f32_);
    return choose(
        is_left_out, types, [&] { return before; },
        [&] { return take_keys(block, both(is_whole, answer.all), State::of(before)).all(); });
  }
  Value warp_row0() { return add(row0_, times(warp_, kWarpRows)); }

  // Stages of 64 rows.
  Value slice_memory(const SharedRows& rows, int64_t stages) {
    const int64_t before = rows.in_panels ? warpgroup::kAtomBytes : 0;
    const auto type = mlir::MemRefType::get({stages * stage_bytes(rows) + before}, builder_.getI8Type());
    const Value memory = builder_.create<memref::AllocOp>(location_, type, builder_.getI64IntegerAttr(64));
    const Value pointer = tensor_core::pointer_in(
        builder_, location_, gpu::open_memory(builder_, location_, memory).base, tensor_core::kShared);
    if (!rows.in_panels) return pointer;
    const Value missing = builder_.create<LLVM::AndOp>(
        location_, builder_.create<LLVM::SubOp>(location_, make_i64(builder_, location_, 0), number_of(pointer)),
        make_i64(builder_, location_, warpgroup::kAtomBytes - 1));
    return byte_address(pointer, missing);
  }
  Value number_of(Value pointer) {
    return builder_.create<LLVM::PtrToIntOp>(location_, builder_.getI64Type(), pointer);
  }
  Value stage_of(const SharedRows& rows, Value stage) {
    return byte_address(rows.shared, times(stage, stage_bytes(rows)));
  }

  void end_group() {
    if (features_.has_async_copy) tensor_core::end_group(builder_, location_);
  }
  // Until all threads' copies but the last groups of each have arrived.
  void wait(int64_t groups) {
    if (features_.has_async_copy) tensor_core::wait_for_groups(builder_, location_, groups);
    if (by_warpgroups_) warpgroup::show_writes(builder_, location_);
    Block::barrier(builder_, location_);
  }

  void bring_keys(Value block) {
    const Value stage = remainder(block, stages_), first = times(block, kKeys);
    bring(k_, first, stage);
    bring(v_, first, stage);
  }

  // 64 rows from `first` on; zeros beyond the last one.
  void bring(const SharedRows& rows, Value first, Value stage) {
    const Value shared = stage_of(rows, stage);
    choose(
        rows.is_aligned, {}, [&] { return bring_groups(rows, first, shared); },
        [&] { return bring_elements(rows, first, shared); });
  }

  Values bring_groups(const SharedRows& rows, Value first, Value shared) {
    const auto type = mlir::VectorType::get({4}, builder_.getI32Type());
    for (int64_t done = 0; done < kKeys * groups(rows); done += kThreads) {
      const Value number = add(block_.thread(), done);
      const Value line = quotient(number, groups(rows)), group = remainder(number, groups(rows));
      const Value target = byte_address(shared, place_of(rows, line, group));
      const Value row = add(first, line), element = times(group, group_);
      const Value is_inside = both(is_below(row, rows.count), is_below(element, index(rows.size)));
      if (features_.has_async_copy) {
        const Value source = select(is_inside, address(rows, row, element), rows.memory.base);
        const Value bytes =
            select(is_inside, make_i32(builder_, location_, kGroupBytes), make_i32(builder_, location_, 0));
        tensor_core::copy_async(builder_, location_, target,
                                tensor_core::pointer_in(builder_, location_, source, tensor_core::kGlobal), bytes);
        continue;
      }
      const Values loaded = choose(
          is_inside, mlir::TypeRange(type),
          [&]() -> Values {
            return {builder_.create<LLVM::LoadOp>(location_, type, address(rows, row, element), kGroupBytes)};
          },
          [&]() -> Values { return {builder_.create<arith::ConstantOp>(location_, builder_.getZeroAttr(type))}; });
      builder_.create<LLVM::StoreOp>(location_, loaded[0], target, kGroupBytes);
    }
    return {};
  }

  Values bring_elements(const SharedRows& rows, Value first, Value shared) {
    const mlir::Type stored = gpu::stored_type(element_);
    const int64_t in_line = groups(rows) * group_;
    block_.strided(builder_, location_, index(kKeys * in_line), [&](OpBuilder& inside, Value place) {
      const OpBuilder::InsertionGuard guard(builder_);
      builder_.setInsertionPoint(inside.getInsertionBlock(), inside.getInsertionPoint());
      const Value line = quotient(place, in_line), element = remainder(place, in_line), row = add(first, line);
      const Value is_inside = both(is_below(row, rows.count), is_below(element, index(rows.size)));
      const Values loaded = choose(
          is_inside, mlir::TypeRange(stored),
          [&]() -> Values {
            return {builder_.create<LLVM::LoadOp>(location_, stored, address(rows, row, element), element_bytes_)};
          },
          [&]() -> Values { return {builder_.create<arith::ConstantOp>(location_, builder_.getZeroAttr(stored))}; });
      const Value in_group = times(remainder(element, group_), element_bytes_);
      const Value target = byte_address(shared, add(place_of(rows, line, quotient(element, group_)), in_group));
      builder_.create<LLVM::StoreOp>(location_, loaded[0], target, element_bytes_);
    });
    return {};
  }

  // Four 8 x 8 matrices: the lanes' rows from `line` on, the groups from `group` on; `down_first`: the second matrix is
  // the one below the first.
  Values load_part(const SharedRows& rows, Value shared, Value line, int64_t group, bool down_first, bool turned) {
    const Value second = remainder(quotient(lane_, 8), 2), fourth = quotient(lane_, 16);
    const Value row = add(line, add(remainder(lane_, 8), times(down_first ? second : fourth, 8)));
    const Value along = add(down_first ? fourth : second, group);
    const Value offset = add(times(row, line_bytes(rows)), times(along, kGroupBytes));
    return tensor_core::load_matrices(builder_, location_, byte_address(shared, offset), turned);
  }

  llvm::SmallVector<Values> load_queries() {
    llvm::SmallVector<Values> parts;
    for (int64_t group = 0; group < groups(q_); group += 2) {
      parts.push_back(load_part(q_, q_.shared, times(warp_, kWarpRows), group, /*down_first=*/true, false));
    }
    return parts;
  }

  Values beginning() {
    Values all{infinity(), infinity(), number(0), number(0)};
    all.append(static_cast<size_t>(padded(v_.size) / kPartColumns * 4), number(0));
    return all;
  }

  Values multiply(const Values& a, ValueRange b, ValueRange sums) {
    return tensor_core::multiply(builder_, location_, {element_}, features_.has_async_copy, a, b, sums);
  }
  static void put(Values& all, size_t first, const Values& some) {
    llvm::copy(some, all.begin() + static_cast<std::ptrdiff_t>(first));
  }

  Value describe(Value shared, int64_t offset, bool along_k) {
    const Value address = plus(number_of(shared), make_i64(builder_, location_, offset));
    return warpgroup::describe(builder_, location_, address, along_k, kPanelBytes);
  }
  Values score_at_once(Value shared) {
    Values queries, keys;
    for (int64_t in_row = 0; in_row < padded(q_.size) * element_bytes_; in_row += kPart * element_bytes_) {
      const int64_t offset = in_row / warpgroup::kLineBytes * kPanelBytes + in_row % warpgroup::kLineBytes;
      queries.push_back(describe(q_.shared, offset, /*along_k=*/true));
      keys.push_back(describe(shared, offset, /*along_k=*/true));
    }
    const Values scores =
        warpgroup::multiply(builder_, location_, element_, queries, keys, true, true, {}, kKeys / kPartColumns * 4);
    return warpgroup::wait_for_sums(builder_, location_, scores);
  }

  // Four for every eight keys: two neighbours in each of the thread's rows.
  Values score(const llvm::SmallVector<Values>& queries, Value shared) {
    Values scores(kKeys / kPartColumns * 4, number(0));
    for (size_t piece = 0; piece < queries.size(); ++piece) {
      for (int64_t key = 0; key < kKeys; key += kPart) {
        const Values part = load_part(k_, shared, index(key), static_cast<int64_t>(piece) * 2, false, false);
        for (size_t half = 0; half < 2; ++half) {
          const size_t first = (static_cast<size_t>(key / kPartColumns) + half) * 4;
          put(scores, first,
              multiply(queries[piece], ValueRange(part).slice(half * 2, 2), ValueRange(scores).slice(first, 4)));
        }
      }
    }
    return scores;
  }

  // The scores' values as the program wants them, in f32. Keys beyond the last one do not count; `all_count`: every key
  // counts.
  Values mask(const Values& scores, Value first_key, Value all_count) {
    const auto compute = [&](bool counts) {
      Values numbers = scores;
      for (size_t i = 0; i < scores.size(); ++i) {
        const auto column = static_cast<int64_t>(i / 4 * kPartColumns + i % 2);
        const Value key = add(first_key, add(column_, column)), row = add(row_, i % 4 / 2 * 8);
        if (attention_.masked) numbers[i] = compute_masked(scores[i], row, key, counts);
        if (is_half_) numbers[i] = as_exponent(numbers[i], counts);
        if (!counts) numbers[i] = select(is_below(key, sizes_[attention_.key]), numbers[i], infinity());
      }
      return numbers;
    };
    const llvm::SmallVector<mlir::Type> types(scores.size(), f32_);
    return choose(
        all_count, types, [&] { return compute(true); }, [&] { return compute(false); });
  }

  State take_keys(Value block, Value all_count, State state) {
    const Value stage = remainder(block, stages_), k_shared = stage_of(k_, stage), v_shared = stage_of(v_, stage);
    Values weights = by_warpgroups_     ? score_at_once(k_shared)
                     : by_tensor_cores_ ? score(queries_, k_shared)
                                        : score_one_by_one(k_shared);
    weights = mask(weights, times(block, kKeys), all_count);
    for (unsigned row = 0; row < 2; ++row) weigh(weights, row, state);
    state.mixed =
        by_tensor_cores_ ? mix(weights, v_shared, state.mixed) : mix_one_by_one(weights, v_shared, state.mixed);
    return state;
  }

  Values mix(const Values& weights, Value v_shared, Values mixed) {
    llvm::SmallVector<Values> parts;
    for (int64_t key = 0; key < kKeys; key += kPart) {
      // Sums of 16 x 16 lie as the first operand: rows, rows below, and the same of the next eight columns.
      const auto first = static_cast<size_t>(key / kPartColumns) * 4;
      Values part;
      for (size_t i = 0; i < 8; i += 2) part.push_back(pair_of(weights[first + i], weights[first + i + 1]));
      parts.push_back(part);
    }
    if (by_warpgroups_) {
      Values rows;
      for (int64_t key = 0; key < kKeys; key += kPart) {
        rows.push_back(describe(v_shared, key * warpgroup::kLineBytes, /*along_k=*/false));
      }
      return warpgroup::multiply_registers(builder_, location_, element_, parts, rows, /*b_along_k=*/false, mixed);
    }
    for (int64_t key = 0; key < kKeys; key += kPart) {
      for (int64_t group = 0; group < groups(v_); group += 2) {
        const Values columns = load_part(v_, v_shared, index(key), group, /*down_first=*/true, /*turned=*/true);
        for (size_t half = 0; half < 2; ++half) {
          const size_t at = (static_cast<size_t>(group) + half) * 4;
          put(mixed, at,
              multiply(parts[static_cast<size_t>(key / kPart)], ValueRange(columns).slice(half * 2, 2),
                       ValueRange(mixed).slice(at, 4)));
        }
      }
    }
    return mixed;
  }

  // `count` neighbours of a row in shared memory, in f32.
  Values load_numbers(const SharedRows& rows, Value shared, Value line, Value element, int64_t count) {
    const mlir::Type stored = gpu::stored_type(element_);
    const Value from = byte_address(shared, add(times(line, line_bytes(rows)), times(element, element_bytes_)));
    const Value all = builder_.create<LLVM::LoadOp>(location_, mlir::VectorType::get({count}, stored), from,
                                                    static_cast<unsigned>(count * element_bytes_));
    Values numbers;
    for (int64_t i = 0; i < count; ++i) {
      const Value one = builder_.create<LLVM::ExtractElementOp>(location_, all, make_i32(builder_, location_, i));
      const Value element_of_row = gpu::from_stored(builder_, location_, one, element_);
      numbers.push_back(convert_element(builder_, location_, element_of_row, f32_, false));
    }
    return numbers;
  }
  Value add_product(Value sum, Value a, Value b) {
    const Value product = builder_.create<arith::MulFOp>(location_, a, b, arith::FastMathFlags::contract);
    return builder_.create<arith::AddFOp>(location_, sum, product, arith::FastMathFlags::contract);
  }

  Values score_one_by_one(Value shared) {
    const Values start(kKeys / kPartColumns * 4, number(0));
    const Value line = add(times(warp_, kWarpRows), quotient(lane_, 4));
    return loop(index(padded(q_.size)), kRun, start, [&](Value element, ValueRange so_far) {
      Values scores(so_far), queries[2];
      for (unsigned row = 0; row < 2; ++row) {
        queries[row] = load_numbers(q_, q_.shared, add(line, row * 8), element, kRun);
      }
      for (size_t i = 0; i < scores.size(); ++i) {
        if (i % 4 >= 2) continue;  // The row below has the same keys.
        const Value key = add(column_, static_cast<int64_t>(i / 4 * kPartColumns + i % 2));
        const Values keys = load_numbers(k_, shared, key, element, kRun);
        for (size_t row = 0; row < 2; ++row) {
          Value& score = scores[i + row * 2];
          for (size_t n = 0; n < keys.size(); ++n) score = add_product(score, queries[row][n], keys[n]);
        }
      }
      return scores;
    });
  }

  // Each of four threads has two of eight keys' weights.
  Values mix_one_by_one(const Values& weights, Value v_shared, Values mixed) {
    for (size_t key = 0; key < kKeys; ++key) {
      const auto from = static_cast<int64_t>(key % kPartColumns / 2);
      Value of_rows[2];
      for (size_t row = 0; row < 2; ++row) {
        of_rows[row] = of_four(weights[key / kPartColumns * 4 + row * 2 + key % 2], from);
      }
      for (size_t first = 0; first < mixed.size(); first += 4) {
        const Value column = add(column_, static_cast<int64_t>(first) / 4 * kPartColumns);
        const Values pair = load_numbers(v_, v_shared, index(static_cast<int64_t>(key)), column, 2);
        for (size_t i = 0; i < 4; ++i) mixed[first + i] = add_product(mixed[first + i], of_rows[i / 2], pair[i % 2]);
      }
    }
    return mixed;
  }

  // What the i-th of the four threads that share rows has.
  Value of_four(Value value, int64_t i) {
    constexpr int64_t kSegments = (32 - 4) << 8 | 31;
    return builder_.create<NVVM::ShflOp>(location_, f32_, make_i32(builder_, location_, -1), value,
                                         make_i32(builder_, location_, i), make_i32(builder_, location_, kSegments),
                                         NVVM::ShflKind::idx, mlir::UnitAttr());
  }

  // What it is the exponential of, for two instead of e, so that the multiplication joins others by constants. The lowest
  // numbers, which stand for scores that don't count, stay numbers.
  Value as_exponent(Value score, bool counts) {
    const Value exponent =
        builder_.create<arith::MulFOp>(location_, score, number(kLog2OfE), arith::FastMathFlags::reassoc);
    if (counts) return exponent;
    const Value lowest = number(-std::numeric_limits<float>::max());
    const Value is_nothing = builder_.create<arith::CmpFOp>(location_, arith::CmpFPredicate::OEQ, score, infinity());
    return select(is_nothing, score, builder_.create<arith::MaximumFOp>(location_, exponent, lowest));
  }
  // exp(score - base), of exponents for halves.
  Value weight_of(Value score, Value base) {
    const Value distance = minus(score, base);
    return is_half_ ? power_of_two(distance) : power(distance);
  }
  // A row's scores become weights, and what the state holds comes to the same scale.
  void weigh(Values& scores, unsigned row, State& state) {
    const auto is_of_row = [&](size_t i) { return i % 4 / 2 == row; };
    Value largest = state.largest[row];
    for (size_t i = 0; i < scores.size(); ++i) {
      if (is_of_row(i)) largest = builder_.create<arith::MaximumFOp>(location_, largest, scores[i]);
    }
    for (const int64_t distance : {1, 2}) {
      largest = builder_.create<arith::MaximumFOp>(location_, largest, from_lane(largest, distance));
    }
    // While all is masked there is nothing to subtract.
    const Value none = builder_.create<arith::CmpFOp>(location_, arith::CmpFPredicate::OEQ, largest, infinity());
    const Value base = select(none, number(0), largest);
    const Value shrink = weight_of(state.largest[row], base);
    Values weights;
    for (size_t i = 0; i < scores.size(); ++i) {
      if (is_of_row(i)) weights.push_back(scores[i] = weight_of(scores[i], base));
    }
    state.sum[row] = sum_of(multiple(state.sum[row], shrink), sum_of_all(weights));
    for (size_t i = 0; i < state.mixed.size(); ++i) {
      if (is_of_row(i)) state.mixed[i] = multiple(state.mixed[i], shrink);
    }
    state.largest[row] = largest;
  }

  // In pairs, of which none waits for another.
  Value sum_of_all(Values numbers) {
    while (numbers.size() > 1) {
      Values pairs;
      for (size_t i = 0; i + 1 < numbers.size(); i += 2) pairs.push_back(sum_of(numbers[i], numbers[i + 1]));
      if (numbers.size() % 2 != 0) pairs.push_back(numbers.back());
      numbers = pairs;
    }
    return numbers[0];
  }

  // Two numbers as halves in a word.
  Value pair_of(Value low, Value high) {
    if (features_.has_async_copy) {  // As old as these is an instruction that rounds two at once.
      const llvm::StringRef name = element_.isBF16() ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn";
      auto both = builder_.create<LLVM::CallIntrinsicOp>(location_, mlir::VectorType::get({2}, element_), name,
                                                         ValueRange{high, low});
      return builder_.create<LLVM::BitcastOp>(location_, builder_.getI32Type(), both->getResult(0));
    }
    const mlir::Type stored = gpu::stored_type(element_);
    Value pair = builder_.create<LLVM::UndefOp>(location_, mlir::VectorType::get({2}, stored));
    const Value numbers[2] = {low, high};
    for (int64_t i = 0; i < 2; ++i) {
      const Value half = builder_.create<arith::TruncFOp>(location_, element_, numbers[i]);
      pair = builder_.create<LLVM::InsertElementOp>(location_, pair, gpu::to_stored(builder_, location_, half),
                                                    make_i32(builder_, location_, i));
    }
    return builder_.create<LLVM::BitcastOp>(location_, builder_.getI32Type(), pair);
  }

  void store(State state) {
    for (unsigned row = 0; row < 2; ++row) {
      Value sum = state.sum[row];
      for (const int64_t distance : {1, 2}) sum = sum_of(sum, from_lane(sum, distance));
      // Without keys nothing is summed.
      const Value is_empty = compare(arith::CmpIPredicate::eq, sizes_[attention_.key], index(0));
      const Value share = select(is_empty, number(0), builder_.create<arith::DivFOp>(location_, number(1), sum));
      const Value at = add(row_, row * 8);
      only_if(is_below(at, sizes_[attention_.row]), [&] {
        for (size_t i = 0; i < state.mixed.size(); ++i) {
          if (i % 4 / 2 != row) continue;
          const Value column = add(column_, static_cast<int64_t>(i / 4 * kPartColumns + i % 2));
          store_element(at, column, multiple(state.mixed[i], share));
        }
      });
    }
  }

  void store_element(Value row, Value column, Value value) {
    const auto write = [&] { attention_.last ? store_last(row, column, value) : store_mixed(row, column, value); };
    if (padded(v_.size) == attention_.width) return write();
    only_if(is_below(column, index(attention_.width)), write);
  }

  bool by_tensor_cores_, by_warpgroups_;
  int64_t stages_;
  SharedRows q_, k_, v_;
  llvm::SmallVector<Values> queries_;
  Value blocks_, row0_, row_, column_;
};

}  // namespace

bool takes_attention(const Attention& attention, const Features& features) {
  const mlir::Type element = mlir::getElementTypeOrSelf(attention.scores->getOperand(attention.q).getType());
  if (!element.isF16() && !element.isBF16() && !element.isF32()) return false;
  if (has_few_queries(attention, element, features)) {
    return bytes_of_few_queries(attention, element) <= features.shared_bytes_max;
  }
  if (attention.rows == 1) return false;
  const bool in_panels = features.has_warpgroups && is_for_tensor_cores(element, features);
  const auto stage_bytes = [&](int64_t size) {
    return in_panels ? panels_of(size) * kPanelBytes : kKeys * line_bytes_of(size, element);
  };
  const int64_t bytes = (in_panels ? 3 * warpgroup::kAtomBytes : 0) + stage_bytes(attention.depth) +
                        stages_of(features) * (stage_bytes(attention.depth) + stage_bytes(attention.width));
  return attention.depth <= kAttentionSizeMax && attention.width <= kAttentionSizeMax &&
         bytes <= features.shared_bytes_max;
}

mlir::LogicalResult write_attention(mlir::func::FuncOp kernel, const Features& features) {
  const std::optional<Attention> attention = find_attention(kernel);
  if (!attention || !takes_attention(*attention, features)) {
    return kernel.emitError("There is no code for this attention on such a device.");
  }
  OpBuilder builder(kernel.getBody().front().getTerminator());
  const mlir::Type element = mlir::getElementTypeOrSelf(attention->scores->getOperand(attention->q).getType());
  const bool few = has_few_queries(*attention, element, features);
  const int64_t threads = few ? threads_of_few_queries(*attention, element) : kThreads;
  kernel->setAttr("workgroup_size", builder.getIndexArrayAttr({threads, 1, 1}));
  if (features.has_clusters && key_sharers(*attention) > 1) {
    kernel->setAttr(gpu::kClusterBlocks, builder.getI32IntegerAttr(static_cast<int32_t>(key_sharers(*attention))));
  }
  Block block(kernel, features);
  if (few) {
    write_few_queries(builder, kernel.getLoc(), *attention, block);
  } else {
    AttentionWriter(builder, kernel.getLoc(), *attention, block).write();
  }
  llvm::SmallVector<mlir::Operation*> gone;
  for (linalg::LinalgOp op : kernel.getOps<linalg::LinalgOp>()) gone.push_back(op);
  for (mlir::Operation* op : gone) op->erase();
  // What was to hold all scores.
  for (auto alloc : llvm::make_early_inc_range(kernel.getOps<memref::AllocOp>())) {
    for (mlir::Operation* user : llvm::make_early_inc_range(alloc->getUsers())) {
      if (llvm::isa<memref::DimOp, memref::DeallocOp>(user) && user->use_empty()) user->erase();
    }
    if (alloc->use_empty()) alloc.erase();
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::codegen::cuda
