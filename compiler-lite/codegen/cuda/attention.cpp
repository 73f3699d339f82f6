// Four warps take 16 rows of Q each, and go along all keys, 64 at a time:
//
//   for each 64 keys
//     begin to copy the next rows of K and V to shared memory; wait for these; barrier
//     scores = Q K, in registers; masked
//     the largest so far of each row; if it grew, what was summed before shrinks by exp(old - new)
//     weights = exp(scores - largest), as halves: a product's sums lie in registers as its first operand does
//     sum += weights; mixed += weights V
//   last of mixed / sum
//
// Elements for which there are no tensor cores are multiplied one by one, with the sums where tensor cores have them: a
// thread's scores are in two rows, and four threads that follow each other share these.
//
// Rows of K and V lie in shared memory one after the other, 16 bytes apart, so that eight rows lie in different banks.
#include "compiler-lite/codegen/cuda/attention.hpp"

#include "compiler-lite/codegen/cuda/attention_parts.hpp"
#include "compiler-lite/codegen/cuda/few_queries.hpp"
#include "compiler-lite/codegen/cuda/tensor_core.hpp"

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

// Writes one workgroup's rows. Its many methods are the steps of one pass over the keys, which share the registers, buffers
// and offsets that the members are.
class AttentionWriter : AttentionParts {
 public:
  AttentionWriter(OpBuilder& builder, Location location, const Attention& attention, Block& block)
      : AttentionParts(builder, location, attention, block) {
    by_tensor_cores_ = is_for_tensor_cores(element_, features_);
    stages_ = stages_of(features_);
  }

  void write() {
    read_sizes();
    place();
    const Value q_shared = slice_memory(attention_.depth, 1);
    q_ = {open(attention_.scores, attention_.q, attention_.row, attention_.depth), q_shared};
    k_ = {open(attention_.scores, attention_.k, attention_.key, attention_.depth),
          slice_memory(attention_.depth, stages_)};
    v_ = {open(attention_.mixed, attention_.v, attention_.key, attention_.width),
          slice_memory(attention_.width, stages_)};
    bring(q_, row0_, index(0));
    end_group();
    const Value blocks = quotient(add(sizes_[attention_.key], kKeys - 1), kKeys);
    if (features_.has_async_copy) {
      bring_keys(index(0));
      end_group();
    }
    wait(features_.has_async_copy ? 1 : 0);
    const llvm::SmallVector<Values> queries = by_tensor_cores_ ? load_queries() : llvm::SmallVector<Values>();
    const Values last = loop(blocks, 1, beginning(), [&](Value block, ValueRange so_far) {
      if (features_.has_async_copy) {
        only_if(is_below(add(block, 1), blocks), [&] { bring_keys(add(block, 1)); });
        end_group();
        wait(1);
      } else {
        Block::barrier(builder_, location_);
        bring_keys(block);
        Block::barrier(builder_, location_);
      }
      State state = take_keys(queries, block, State::of(so_far));
      if (features_.has_async_copy) Block::barrier(builder_, location_);  // Before the stage is copied to again.
      return state.all();
    });
    if (features_.has_async_copy) tensor_core::wait_for_groups(builder_, location_, 0);
    store(State::of(last));
  }

 private:
  // With their places in shared memory.
  struct SharedRows : Rows {
    SharedRows() = default;
    SharedRows(const Rows& rows, Value memory) : Rows(rows), shared(memory) {}
    Value shared;
  };
  int64_t line_bytes(const SharedRows& rows) const { return line_bytes_of(rows.size, element_); }
  int64_t groups(const Rows& rows) const { return padded(rows.size) / group_; }
  // Of a thread's two rows: the largest score, the sum of weights, and the weighted sums of V.
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
    row0_ = times(builder_.create<arith::RemUIOp>(location_, rest, row_blocks), kAttentionRows);
    place_batches(builder_.create<arith::DivUIOp>(location_, rest, row_blocks));
    // A thread's first row; the second one is eight further on.
    row_ = add(row0_, add(times(warp_, kWarpRows), quotient(lane_, 4)));
    column_ = times(remainder(lane_, 4), 2);
  }

  // Stages of 64 rows.
  Value slice_memory(int64_t size, int64_t stages) {
    const int64_t bytes = stages * kKeys * line_bytes_of(size, element_);
    const auto type = mlir::MemRefType::get({bytes}, builder_.getI8Type());
    const Value memory = builder_.create<memref::AllocOp>(location_, type, builder_.getI64IntegerAttr(64));
    return tensor_core::pointer_in(builder_, location_, gpu::open_memory(builder_, location_, memory).base,
                                   tensor_core::kShared);
  }
  Value stage_of(const SharedRows& rows, Value stage) {
    return byte_address(rows.shared, times(stage, kKeys * line_bytes(rows)));
  }

  void end_group() {
    if (features_.has_async_copy) tensor_core::end_group(builder_, location_);
  }
  // Until all threads' copies but the last groups of each have arrived.
  void wait(int64_t groups) {
    if (features_.has_async_copy) tensor_core::wait_for_groups(builder_, location_, groups);
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
      const Value target = byte_address(shared, add(times(line, line_bytes(rows)), times(group, kGroupBytes)));
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
      const Value target = byte_address(shared, add(times(line, line_bytes(rows)), times(element, element_bytes_)));
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
    return tensor_core::multiply(builder_, location_, element_, features_.has_async_copy, a, b, sums);
  }
  static void put(Values& all, size_t first, const Values& some) {
    llvm::copy(some, all.begin() + static_cast<std::ptrdiff_t>(first));
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

  // The scores' values in the program, in f32; nothing counts beyond the last key.
  Values mask(Values scores, Value first_key) {
    for (size_t i = 0; i < scores.size(); ++i) {
      const auto column = static_cast<int64_t>(i / 4 * kPartColumns + i % 2);
      const Value key = add(first_key, add(column_, column)), row = add(row_, i % 4 / 2 * 8);
      if (attention_.masked) scores[i] = compute_masked(scores[i], row, key);
      scores[i] = select(is_below(key, sizes_[attention_.key]), scores[i], infinity());
    }
    return scores;
  }

  State take_keys(const llvm::SmallVector<Values>& queries, Value block, State state) {
    const Value stage = remainder(block, stages_), k_shared = stage_of(k_, stage), v_shared = stage_of(v_, stage);
    Values weights = by_tensor_cores_ ? score(queries, k_shared) : score_one_by_one(k_shared);
    weights = mask(weights, times(block, kKeys));
    for (unsigned row = 0; row < 2; ++row) weigh(weights, row, state);
    state.mixed =
        by_tensor_cores_ ? mix(weights, v_shared, state.mixed) : mix_one_by_one(weights, v_shared, state.mixed);
    return state;
  }

  Values mix(const Values& weights, Value v_shared, Values mixed) {
    for (int64_t key = 0; key < kKeys; key += kPart) {
      // Sums of 16 x 16 lie as the first operand: rows, rows below, and the same of the next eight columns.
      const auto first = static_cast<size_t>(key / kPartColumns) * 4;
      Values part;
      for (size_t i = 0; i < 8; i += 2) part.push_back(pair_of(weights[first + i], weights[first + i + 1]));
      for (int64_t group = 0; group < groups(v_); group += 2) {
        const Values columns = load_part(v_, v_shared, index(key), group, /*down_first=*/true, /*turned=*/true);
        for (size_t half = 0; half < 2; ++half) {
          const size_t at = (static_cast<size_t>(group) + half) * 4;
          put(mixed, at, multiply(part, ValueRange(columns).slice(half * 2, 2), ValueRange(mixed).slice(at, 4)));
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
    const Value shrink = power(minus(state.largest[row], base));
    Value sum = multiple(state.sum[row], shrink);
    for (size_t i = 0; i < scores.size(); ++i) {
      if (!is_of_row(i)) continue;
      scores[i] = power(minus(scores[i], base));
      sum = sum_of(sum, scores[i]);
    }
    for (size_t i = 0; i < state.mixed.size(); ++i) {
      if (is_of_row(i)) state.mixed[i] = multiple(state.mixed[i], shrink);
    }
    state.largest[row] = largest;
    state.sum[row] = sum;
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

  bool by_tensor_cores_;
  int64_t stages_;
  SharedRows q_, k_, v_;
  Value row0_, row_, column_;
};

}  // namespace

bool takes_attention(const Attention& attention, const Features& features) {
  const mlir::Type element = mlir::getElementTypeOrSelf(attention.scores->getOperand(attention.q).getType());
  if (!element.isF16() && !element.isBF16() && !element.isF32()) return false;
  if (has_few_queries(attention, element)) {
    return bytes_of_few_queries(attention, element) <= features.shared_bytes_max;
  }
  if (attention.rows == 1) return false;
  const int64_t k_bytes = line_bytes_of(attention.depth, element), v_bytes = line_bytes_of(attention.width, element);
  const int64_t bytes = kKeys * (k_bytes + stages_of(features) * (k_bytes + v_bytes));
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
  const bool few = has_few_queries(*attention, element);
  const int64_t threads = few ? threads_of_few_queries(*attention) : kThreads;
  kernel->setAttr("workgroup_size", builder.getIndexArrayAttr({threads, 1, 1}));
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
