// A block computes a tile of C: each of its two warpgroups 64 rows of 128; of a tile of 64 rows each computes half of the
// columns, or of many steps a half. Slices of A and B, 64 steps deep, lie in shared memory in the order that the instructions read
// (warpgroup.hpp), along k or across as they lie in memory. The multiplication of one slice goes on while the next one's is
// begun:
//
//   for each slice
//     wait for its copies; barrier            all have finished the slice before the last
//     begin to multiply it
//     begin to copy a later slice to where the one before the last was
//     wait until the last slice is multiplied
//
// Matrices that don't lie at multiples of 16 bytes, or along neither of their dimensions, are brought element by element.
#include "compiler-lite/codegen/cuda/warpgroup_product.hpp"

#include "compiler-lite/codegen/cuda/rows_of_sums.hpp"
#include "compiler-lite/codegen/cuda/tensor_core.hpp"
#include "compiler-lite/codegen/cuda/warpgroup.hpp"
#include "compiler-lite/codegen/gpu/grouped_rows.hpp"
#include "compiler-lite/codegen/gpu/slice_steps.hpp"
#include "compiler-lite/codegen/gpu/tile_writer.hpp"
#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "compiler-lite/codegen/size_bounds.hpp"
#include "compiler-lite/codegen/tile_sizes.hpp"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace baton::compiler_lite::codegen::cuda {
namespace {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace memref = mlir::memref;
using gpu::Block;
using gpu::kWarp;
using gpu::Memory;
using gpu::open_memory;
using gpu::type_of;
using gpu::Values;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

constexpr int64_t kDepth = 64;  // Of a slice.
constexpr int64_t kStagesMin = 3, kStagesMax = 4;
constexpr int64_t kStagesOfFew = 8;
constexpr int64_t kGroup = 8;  // Elements of 16 bytes.
constexpr int64_t kGroupBytes = 16, kElementBytes = 2, kSumBytes = 4;
constexpr int64_t kGroupThreads = 4 * kWarp, kGroups = 2, kThreads = kGroups * kGroupThreads;
constexpr int64_t kLineGroups = warpgroup::kLineBytes / kGroupBytes;
// Of 64 rows, or of 64 columns of a transposed operand.
constexpr int64_t kPanelBytes = kDepth * warpgroup::kLineBytes;
// Steps for which joining what two warpgroups have summed isn't worth it.
constexpr int64_t kFewSteps = 256;
constexpr int64_t kWarpRows = warpgroup::kRows / 4;
constexpr int64_t kRowsMax = 128, kColumnsMin = 64, kColumnsMax = 256;

// Writes one tile's product. Its many methods are the steps of one pipeline of copies and products, which share the
// registers, buffers and offsets that the members are.
class WarpgroupWriter : gpu::TileWriter {
 public:
  WarpgroupWriter(OpBuilder& builder, Location location, const Product& product, Block& block, bool from_zero)
      : TileWriter(builder, location), product_(product), block_(block), from_zero_(from_zero) {
    element_ = type_of(product.a).getElementType();
    for (unsigned i = 0; i < 2; ++i) size_[i] = size_of(product_.c, i);
    tile_[0] = most(0) > warpgroup::kRows ? kRowsMax : warpgroup::kRows;
    tile_[1] = std::clamp((most(1) + kColumnsMin - 1) / kColumnsMin * kColumnsMin, kColumnsMin, kColumnsMax);
  }

  // Whether there is room for the slices.
  bool choose_stages() {
    const int64_t taken = taken_bytes();
    const int64_t room = block_.features().shared_bytes_max - taken - warpgroup::kAtomBytes;
    const auto stage_bytes = [&] { return (tile_[0] + tile_[1]) * warpgroup::kLineBytes; };
    while (tile_[1] > kColumnsMin && room / stage_bytes() < kStagesMin) tile_[1] -= kColumnsMin;
    // As few as find room twice, so that another block multiplies while this one begins or ends.
    const int64_t of_two = (block_.features().shared_bytes_max / 2 - taken - 2 * warpgroup::kAtomBytes) / stage_bytes();
    stages_ = std::min(of_two >= kStagesMin ? of_two : room / stage_bytes(), kStagesMax);
    // Where each has a multiprocessor for itself, as many as there is room for: only they keep its memory busy.
    if (const auto count = block_.count(); count && *count <= kMultiprocessors) {
      stages_ = std::min(room / stage_bytes(), kStagesOfFew);
    }
    slots_ = stages_;
    const int64_t depth = type_of(product_.a).getDimSize(1);
    const bool is_short = product_.turns.empty() && !mlir::ShapedType::isDynamic(depth);
    if (is_short) slots_ = std::clamp<int64_t>((depth + kDepth - 1) / kDepth, 1, stages_);
    if (tile_[0] == warpgroup::kRows) {
      const bool has_halves = tile_[1] % (kGroups * kColumnsMin) == 0;
      sharing_ = is_short && depth <= kFewSteps && has_halves ? Sharing::kColumns : Sharing::kSteps;
    }
    return stages_ >= kStagesMin;
  }

  void write() {
    place_threads();
    rows_.emplace(builder_, location_, product_, from_zero_, kWarpRows, group_columns());
    grouped_.emplace(builder_, location_, product_);
    depth_ = size_of(product_.a, 1);
    slices_[0] = open(product_.a, 0);
    slices_[1] = open(product_.b, 1);
    make_room();
    steps_.emplace(builder_, location_, product_, depth_, kDepth);
    Value unaligned = or_bits(slices_[0].unaligned, slices_[1].unaligned);
    unaligned = or_bits(unaligned, grouped_->unaligned_bits(kElementBytes, kGroupBytes));
    for (unsigned i = 0; i < 2; ++i) {
      unaligned = or_bits(unaligned, steps_->unaligned_bits(i, kElementBytes, kGroupBytes));
    }
    is_aligned_ = compare(arith::CmpIPredicate::eq, unaligned, make_i64(builder_, location_, 0));
    loop(size_[0], tile_[0], {}, [&](Value m0, ValueRange) {
      loop(size_[1], tile_[1], {}, [&](Value n0, ValueRange) {
        write_tile(m0, n0);
        return Values();
      });
      return Values();
    });
  }

 private:
  // The part of A or B that is in shared memory, lines of groups. Lines go along m or n, and groups along k; or the
  // other way round, in panels of eight groups.
  struct Slices {
    Memory memory;
    Value line_stride, stride;    // In memory, in elements.
    Value unaligned;              // Zero where groups lie at multiples of their size.
    Value lines_size, line_size;  // Of the whole matrix.
    bool along_k;
    int64_t lines, groups;
    Value shared, address;  // The first stage, as a pointer and as a number.

    int64_t stage_bytes() const { return lines * groups * kGroupBytes; }
  };

  Value or_bits(Value a, Value b) { return builder_.create<LLVM::OrOp>(location_, a, b); }
  Value select(Value choice, Value a, Value b) { return builder_.create<arith::SelectOp>(location_, choice, a, b); }
  Value as_i64(Value value) { return cast(builder_, location_, value, builder_.getI64Type()); }
  Value flip(Value a, Value b) { return builder_.createOrFold<arith::XOrIOp>(location_, a, b); }
  // What the warpgroups divide among them.
  enum class Sharing { kRows, kColumns, kSteps };
  bool shares_steps() const { return sharing_ == Sharing::kSteps; }
  int64_t group_columns() const { return sharing_ == Sharing::kColumns ? tile_[1] / kGroups : tile_[1]; }

  // The most rows or columns that C can have.
  int64_t most(unsigned dimension) {
    const int64_t known = type_of(product_.c).getDimSize(dimension);
    if (!mlir::ShapedType::isDynamic(known)) return known;
    const int64_t bound = codegen::most(size_[dimension]).value_or(kRowsMax);
    return bound > 1 ? bound : kRowsMax;
  }

  void place_threads() {
    const Value thread = block_.thread();
    lane_ = remainder(thread, kWarp);
    in_group_ = remainder(thread, kGroupThreads);
    group_ = quotient(thread, kGroupThreads);
  }

  Slices open(Value matrix, unsigned k_is_lines_of) {
    Slices slices;
    const int contiguous = contiguous_dimension(matrix);
    const unsigned k_dimension = k_is_lines_of == 0 ? 1 : 0, other = 1 - k_dimension;
    const int64_t tile = tile_[k_is_lines_of];
    slices.memory = open_memory(builder_, location_, matrix);
    slices.along_k = contiguous < 0 || contiguous == static_cast<int>(k_dimension);
    slices.lines = slices.along_k ? tile : kDepth;
    slices.groups = (slices.along_k ? kDepth : tile) / kGroup;
    const unsigned line = slices.along_k ? other : k_dimension, along = slices.along_k ? k_dimension : other;
    slices.lines_size = slices.along_k ? size_[k_is_lines_of] : depth_;
    slices.line_size = slices.along_k ? depth_ : size_[k_is_lines_of];
    slices.line_stride = slices.memory.strides[line];
    slices.stride = slices.memory.strides[along];
    slices.unaligned = contiguous < 0 ? make_i64(builder_, location_, 1) : unaligned_bits_of(slices);
    return slices;
  }

  // One temporary for the slices of both: what they are joined through later may take all of it.
  void make_room() {
    const int64_t bytes = slots_ * (slices_[0].stage_bytes() + slices_[1].stage_bytes()) + warpgroup::kAtomBytes;
    const auto type = mlir::MemRefType::get({std::max(bytes, join_bytes())}, builder_.getI8Type());
    const Value memory = builder_.create<memref::AllocOp>(location_, type, builder_.getI64IntegerAttr(64));
    const Value pointer = tensor_core::pointer_in(builder_, location_, open_memory(builder_, location_, memory).base,
                                                  tensor_core::kShared);
    // Temporaries begin at multiples of 64 bytes, atoms at multiples of their size.
    const Value begin = builder_.create<LLVM::PtrToIntOp>(location_, builder_.getI64Type(), pointer);
    const Value end = builder_.create<LLVM::AddOp>(location_, begin, make_i64(builder_, location_, 1023));
    Value address = builder_.create<LLVM::AndOp>(location_, end, make_i64(builder_, location_, -1024));
    for (Slices& slices : slices_) {
      slices.address = address;
      const Value distance = builder_.create<LLVM::SubOp>(location_, address, begin);
      slices.shared = builder_.create<LLVM::GEPOp>(location_, pointer.getType(), builder_.getI8Type(), pointer,
                                                   ValueRange{distance});
      address = builder_.create<LLVM::AddOp>(location_, address,
                                             make_i64(builder_, location_, slots_ * slices.stage_bytes()));
    }
  }
  int64_t join_bytes() const {
    return shares_steps() ? warpgroup::kRows * tile_[1] * kSumBytes + warpgroup::kAtomBytes : 0;
  }

  Value unaligned_bits_of(const Slices& slices) {
    const Value bits = builder_.create<LLVM::PtrToIntOp>(location_, builder_.getI64Type(), slices.memory.base);
    const Value line_bytes =
        builder_.create<LLVM::MulOp>(location_, slices.line_stride, make_i64(builder_, location_, kElementBytes));
    return builder_.create<LLVM::AndOp>(location_, or_bits(bits, line_bytes),
                                        make_i64(builder_, location_, kGroupBytes - 1));
  }

  Value byte_address(Value pointer, Value offset) {
    return builder_.create<LLVM::GEPOp>(location_, pointer.getType(), builder_.getI8Type(), pointer,
                                        ValueRange{as_i64(offset)});
  }

  void write_tile(Value m0, Value n0) {
    const int64_t sum_count = warpgroup::kRows * group_columns() / kGroupThreads;
    const Value zero = builder_.create<arith::ConstantOp>(location_, builder_.getF32FloatAttr(0));
    const Values start(static_cast<size_t>(sum_count), zero);
    const llvm::SmallVector<mlir::Type> types(start.size(), builder_.getF32Type());
    Values sums = choose(
        is_aligned_, types, [&] { return multiply_on_the_way(m0, n0, start); },
        [&] { return multiply_in_turn(m0, n0, start); });
    if (shares_steps()) {
      sums = join(sums);
      only_if(compare(arith::CmpIPredicate::eq, group_, index(0)), [&] { store_sums(m0, n0, sums); });
    } else {
      store_sums(m0, n0, sums);
    }
  }

  Values multiply_on_the_way(Value m0, Value n0, const Values& start) {
    Block::barrier(builder_, location_);  // Other threads may still read the tile before.
    const int64_t ahead = stages_ - 2;
    const auto begin_copies_of = [&](Value step) {
      only_if(is_below(step, steps_->count()), [&] { begin_copies(m0, n0, step); });
      tensor_core::end_group(builder_, location_);
    };
    for (int64_t step = 0; step < ahead; ++step) begin_copies_of(index(step));
    const Values last = loop(steps_->count(), 1, start, [&](Value step, ValueRange so_far) {
      tensor_core::wait_for_groups(builder_, location_, ahead - 1);
      warpgroup::show_writes(builder_, location_);
      Block::barrier(builder_, location_);
      const Values sums = multiply(remainder(step, stages_), so_far);
      begin_copies_of(add(step, ahead));
      warpgroup::wait_for_groups(builder_, location_, 1);
      return sums;
    });
    tensor_core::wait_for_groups(builder_, location_, 0);
    return warpgroup::wait_for_sums(builder_, location_, last);
  }

  void begin_copies(Value m0, Value n0, Value number) {
    const gpu::SliceSteps::Slice step = steps_->at(number);
    const Value stage = remainder(number, stages_);
    for (unsigned i = 0; i < 2; ++i) {
      const Slices& slices = slices_[i];
      const Value base = byte_address(slices.shared, times(stage, slices.stage_bytes()));
      for (int64_t done = 0; done < slices.lines * slices.groups; done += kThreads) {
        const Place at = place(slices, add(block_.thread(), done), i == 0 ? m0 : n0, step.k0);
        const Value bytes = builder_.create<arith::IndexCastUIOp>(location_, builder_.getI32Type(),
                                                                  times(elements_left(slices, at), kElementBytes));
        const Value any = compare(arith::CmpIPredicate::ne, bytes, make_zero_i32());
        const Value source = select(any, address(slices, at, step.offsets[i], 0), slices.memory.base);
        tensor_core::copy_async(builder_, location_, byte_address(base, at.offset),
                                tensor_core::pointer_in(builder_, location_, source, tensor_core::kGlobal), bytes);
      }
    }
  }
  Value make_zero_i32() { return builder_.create<arith::ConstantIntOp>(location_, 0, 32); }

  // A group of a slice: where it is in the matrix, and in the stage.
  struct Place {
    Value line, element, offset;
  };
  Place place(const Slices& slices, Value number, Value begin, Value k0) {
    const Value line = quotient(number, slices.groups), group = remainder(number, slices.groups);
    const Value panel = quotient(group, kLineGroups), in_line = remainder(group, kLineGroups);
    const Value turned = flip(in_line, remainder(line, kLineGroups));
    const Value offset =
        add(times(add(times(panel, slices.lines), line), warpgroup::kLineBytes), times(turned, kGroupBytes));
    return {add(slices.along_k ? begin : k0, line), add(slices.along_k ? k0 : begin, times(group, kGroup)), offset};
  }
  // Of the i-th element of a group.
  Value address(const Slices& slices, const Place& at, Value turn_offset, int64_t i) {
    const Value line = builder_.create<LLVM::MulOp>(location_, as_i64(at.line), slices.line_stride);
    const Value element = builder_.create<LLVM::MulOp>(location_, as_i64(add(at.element, i)), slices.stride);
    Value in_matrix = builder_.create<LLVM::AddOp>(location_, line, element);
    // Groups of rows are those of an A whose lines are rows.
    if (const Value beyond = &slices == &slices_[0] ? grouped_->beyond(at.line) : Value()) {
      in_matrix = builder_.create<LLVM::AddOp>(location_, in_matrix, beyond);
    }
    const Value offset = builder_.create<LLVM::AddOp>(location_, in_matrix, as_i64(turn_offset));
    return builder_.create<LLVM::GEPOp>(location_, slices.memory.base.getType(), gpu::stored_type(element_),
                                        slices.memory.base, ValueRange{offset});
  }
  // How many of a group's elements the matrix has.
  Value elements_left(const Slices& slices, const Place& at) {
    const Value is_inside = both(is_below(at.line, slices.lines_size), is_below(at.element, slices.line_size));
    const Value rest = builder_.create<arith::SubIOp>(location_, slices.line_size, at.element);
    const Value most = builder_.create<arith::MinUIOp>(location_, rest, index(kGroup));
    return select(is_inside, most, index(0));
  }

  // A slice is brought, then multiplied.
  Values multiply_in_turn(Value m0, Value n0, const Values& start) {
    return loop(steps_->count(), 1, start, [&](Value number, ValueRange so_far) {
      Block::barrier(builder_, location_);
      const gpu::SliceSteps::Slice step = steps_->at(number);
      bring(slices_[0], m0, step.k0, step.offsets[0]);
      bring(slices_[1], n0, step.k0, step.offsets[1]);
      warpgroup::show_writes(builder_, location_);
      Block::barrier(builder_, location_);
      return warpgroup::wait_for_sums(builder_, location_, multiply(index(0), so_far));
    });
  }

  void bring(const Slices& slices, Value begin, Value k0, Value turn_offset) {
    const mlir::Type stored = gpu::stored_type(element_);
    block_.strided(builder_, location_, index(slices.lines * slices.groups), [&](OpBuilder& inside, Value number) {
      const OpBuilder::InsertionGuard guard(builder_);
      builder_.setInsertionPoint(inside.getInsertionBlock(), inside.getInsertionPoint());
      const Place at = place(slices, number, begin, k0);
      const Value left = elements_left(slices, at);
      Value group =
          builder_.create<arith::ConstantOp>(location_, builder_.getZeroAttr(mlir::VectorType::get({kGroup}, stored)));
      for (int64_t i = 0; i < kGroup; ++i) {
        const Values element = choose(
            is_below(index(i), left), stored,
            [&]() -> Values {
              const Value from = address(slices, at, turn_offset, i);
              return {builder_.create<LLVM::LoadOp>(location_, stored, from, kElementBytes)};
            },
            [&]() -> Values { return {builder_.create<arith::ConstantOp>(location_, builder_.getZeroAttr(stored))}; });
        group = builder_.create<LLVM::InsertElementOp>(location_, group, element[0], make_i32(builder_, location_, i));
      }
      builder_.create<LLVM::StoreOp>(location_, group, byte_address(slices.shared, at.offset), kGroupBytes);
    });
  }

  // The warpgroup's part of a stage.
  Values multiply(Value stage, ValueRange so_far) {
    const int64_t pieces = kDepth / warpgroup::kSteps / (shares_steps() ? kGroups : 1);
    Values parts[2];
    for (unsigned i = 0; i < 2; ++i) {
      const Slices& slices = slices_[i];
      const int64_t piece_bytes =
          slices.along_k ? warpgroup::kSteps * kElementBytes : warpgroup::kSteps * warpgroup::kLineBytes;
      Value first = times(stage, slices.stage_bytes());
      if (shares_steps()) {
        first = add(first, times(group_, pieces * piece_bytes));
      } else if (i == (sharing_ == Sharing::kRows ? 0 : 1)) {
        // 64 rows or columns are as many bytes along k as across.
        const int64_t panels = i == 0 ? 1 : group_columns() / warpgroup::kRows;
        first = add(first, times(group_, panels * kPanelBytes));
      }
      for (int64_t piece = 0; piece < pieces; ++piece) {
        const Value at =
            builder_.create<LLVM::AddOp>(location_, slices.address, as_i64(add(first, piece * piece_bytes)));
        parts[i].push_back(warpgroup::describe(builder_, location_, at, slices.along_k, kPanelBytes));
      }
    }
    return warpgroup::multiply(builder_, location_, element_, parts[0], parts[1], slices_[0].along_k,
                               slices_[1].along_k, so_far);
  }

  // What both warpgroups have summed, in the first one.
  Values join(const Values& sums) {
    const auto place_of = [&](size_t i) {
      const Value number = add(in_group_, static_cast<int64_t>(i) * kGroupThreads);
      return byte_address(slices_[0].shared, times(number, kSumBytes));
    };
    Block::barrier(builder_, location_);
    only_if(compare(arith::CmpIPredicate::eq, group_, index(1)), [&] {
      for (size_t i = 0; i < sums.size(); ++i)
        builder_.create<LLVM::StoreOp>(location_, sums[i], place_of(i), kSumBytes);
    });
    Block::barrier(builder_, location_);
    const llvm::SmallVector<mlir::Type> types(sums.size(), builder_.getF32Type());
    return choose(
        compare(arith::CmpIPredicate::eq, group_, index(0)), types,
        [&] {
          Values joined;
          for (size_t i = 0; i < sums.size(); ++i) {
            const Value other = builder_.create<LLVM::LoadOp>(location_, builder_.getF32Type(), place_of(i), kSumBytes);
            joined.push_back(builder_.create<arith::AddFOp>(location_, sums[i], other));
          }
          return joined;
        },
        [&] { return sums; });
  }

  void store_sums(Value m0, Value n0, const Values& sums) {
    const Value is_inside = both(fits(m0, tile_[0], size_[0]), fits(n0, tile_[1], size_[1]));
    Value row = add(m0, times(quotient(in_group_, kWarp), kWarpRows)), column = n0;
    if (sharing_ == Sharing::kRows) row = add(row, times(group_, warpgroup::kRows));
    if (sharing_ == Sharing::kColumns) column = add(column, times(group_, group_columns()));
    rows_->store({lane_, row, column, size_[0], size_[1]}, is_inside, sums);
  }

  const Product& product_;
  Block& block_;
  bool from_zero_;
  std::optional<RowsOfSums> rows_;
  mlir::Type element_;
  int64_t tile_[2];                 // Rows and columns of C.
  int64_t stages_ = 0, slots_ = 0;  // Slices on their way and in use, and memory for as many as there are.
  Sharing sharing_ = Sharing::kRows;
  Slices slices_[2];  // Of A and B.
  std::optional<gpu::SliceSteps> steps_;
  std::optional<gpu::GroupedRows> grouped_;
  Value size_[2], depth_, lane_, in_group_, group_, is_aligned_;
};

}  // namespace

bool write_warpgroup_product(OpBuilder& builder, Location location, const Product& product, Block& block,
                             bool from_zero) {
  const mlir::Type a = type_of(product.a).getElementType(), c = product.sum_type;
  if (!(a.isF16() || a.isBF16()) || a != type_of(product.b).getElementType() || (c != a && !c.isF32())) return false;
  WarpgroupWriter writer(builder, location, product, block, from_zero);
  if (!writer.choose_stages()) return false;
  writer.write();
  return true;
}

}  // namespace baton::compiler_lite::codegen::cuda
