// A block computes a tile of C; its warps stand in two rows of four, each with a part of the tile as sums in registers.
// Slices of A and B, 64 bytes deep, lie in shared memory just as they lie in memory, along k or across: the loads of
// 8 x 8 matrices turn what has to be turned.
//
// Where copies to shared memory go on their own, as many slices as there is room for are on their way while one is
// multiplied:
//
//   for k0 in steps of 32
//     begin to copy another slice to where the one before was
//     multiply all but the last piece
//     wait for the next slice; barrier         everybody has read this one
//     multiply the last piece
//
// Elsewhere, and for matrices that don't lie at multiples of 16 bytes, threads bring a slice, and all wait for it.
//
// A row of a slice is groups of 16 bytes. They stand in another order in each of eight rows (by exclusive or), so that
// the eight addresses of one matrix lie in different banks.
#include "compiler-lite/codegen/cuda/tensor_core_product.hpp"

#include "compiler-lite/codegen/cuda/rows_of_sums.hpp"
#include "compiler-lite/codegen/cuda/tensor_core.hpp"
#include "compiler-lite/codegen/gpu/grouped_rows.hpp"
#include "compiler-lite/codegen/gpu/tile_writer.hpp"
#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace baton::compiler_lite::codegen::cuda {
namespace {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace memref = mlir::memref;
using gpu::Block;
using gpu::Features;
using gpu::kWarp;
using gpu::Memory;
using gpu::open_memory;
using gpu::stored_bytes;
using gpu::stored_type;
using gpu::type_of;
using gpu::Values;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

constexpr int64_t kDepthBytes = 64;                // Of a slice: of each row of A.
constexpr int64_t kStagesMin = 2, kStagesMax = 4;  // Slices in shared memory, where copies go on their own.
constexpr int64_t kGroupBytes = 16;
constexpr int64_t kWarpRows = 2, kWarpColumns = 4;  // Of the block.
constexpr int64_t kThreads = kWarpRows * kWarpColumns * kWarp;
constexpr int64_t kPart = 16, kPartColumns = 8, kPartBytes = 32;  // What a warp multiplies at once.
constexpr int64_t kFour = 4;                                      // Threads that have the sums of a row.
constexpr int64_t kTileMin[2] = {kWarpRows * kPart * 2, kWarpColumns*kPart * 2}, kTileMax[2] = {128, 256};

// A multiple of what the warps compute at least, and no more than the tile of C that there is.
int64_t tile_size(int64_t size, int64_t least, int64_t most) {
  int64_t tile = least;
  while (tile < most && (mlir::ShapedType::isDynamic(size) ? tile < 128 : tile < size)) tile += least;
  return tile;
}

// Writes one tile's product. Its many methods are the steps of one pipeline of copies and products, which share the
// registers, buffers and offsets that the members are.
class TensorCoreWriter : gpu::TileWriter {
 public:
  TensorCoreWriter(OpBuilder& builder, Location location, const Product& product, Block& block,
                   const Features& features, bool from_zero)
      : TileWriter(builder, location), product_(product), block_(block), features_(features), from_zero_(from_zero) {
    factors_ = {type_of(product.a).getElementType(), product.is_unsigned};
    element_bytes_ = stored_bytes(factors_.element);
    group_ = kGroupBytes / element_bytes_;
    depth_of_slice_ = kDepthBytes / element_bytes_;
    depth_of_part_ = kPartBytes / element_bytes_;
    tile_[0] = tile_size(type_of(product.c).getDimSize(0), kTileMin[0], kTileMax[0]);
    tile_[1] = tile_size(type_of(product.c).getDimSize(1), kTileMin[1], kTileMax[1]);
    choose_stages();
    warp_tile_[0] = tile_[0] / kWarpRows;
    warp_tile_[1] = tile_[1] / kWarpColumns;
  }

  void write() {
    place_threads();
    rows_.emplace(builder_, location_, product_, from_zero_, warp_tile_[0], warp_tile_[1]);
    for (unsigned i = 0; i < 2; ++i) size_[i] = size_of(product_.c, i);
    depth_ = size_of(product_.a, 1);
    grouped_.emplace(builder_, location_, product_);
    slices_[0] = open(product_.a, 0);
    slices_[1] = open(product_.b, 1);
    const Value unaligned = or_bits(or_bits(slices_[0].unaligned, slices_[1].unaligned),
                                    grouped_->unaligned_bits(element_bytes_, kGroupBytes));
    is_aligned_ = builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, unaligned,
                                                 make_i64(builder_, location_, 0));
    loop(size_[0], tile_[0], {}, [&](Value m0, ValueRange) {
      loop(size_[1], tile_[1], {}, [&](Value n0, ValueRange) {
        write_tile(m0, n0);
        return Values();
      });
      return Values();
    });
  }

 private:
  // As many as find room; smaller tiles where that is one, and nothing could be on its way while it is multiplied.
  void choose_stages() {
    const int64_t room = std::max<int64_t>(0, features_.shared_bytes_max - taken_bytes());
    const auto stages = [&] { return room / ((tile_[0] + tile_[1]) * kDepthBytes); };
    if (features_.has_async_copy) {
      for (unsigned i : {1u, 0u}) {
        while (stages() < kStagesMin && tile_[i] > kTileMin[i]) tile_[i] -= kTileMin[i];
      }
    }
    stages_ = features_.has_async_copy ? std::clamp<int64_t>(stages(), kStagesMin, kStagesMax) : 1;
  }

  // The part of A or B that is in shared memory, lines of groups. Lines go along m or n, and groups along k; or the
  // other way round.
  struct Slices {
    Memory memory;
    Value stride;                 // Of lines in memory, in elements.
    Value unaligned;              // Zero where groups lie at multiples of their size.
    Value lines_size, line_size;  // Of the whole matrix.
    bool along_k;
    int64_t lines, groups;
    Value shared;  // The first stage.

    int64_t stage_bytes() const { return lines * groups * kGroupBytes; }
  };

  Value flip(Value a, Value b) { return builder_.createOrFold<arith::XOrIOp>(location_, a, b); }
  Value or_bits(Value a, Value b) { return builder_.create<LLVM::OrOp>(location_, a, b); }
  Value select(Value choice, Value a, Value b) { return builder_.create<arith::SelectOp>(location_, choice, a, b); }
  Value as_i64(Value value) { return cast(builder_, location_, value, builder_.getI64Type()); }

  void place_threads() {
    const Value thread = block_.thread();
    lane_ = remainder(thread, kWarp);
    const Value warp = quotient(thread, kWarp);
    warp_at_[0] = times(quotient(warp, kWarpColumns), warp_tile_[0]);
    warp_at_[1] = times(remainder(warp, kWarpColumns), warp_tile_[1]);
  }

  Slices open(Value matrix, unsigned k_is_lines_of) {
    Slices slices;
    const int contiguous = contiguous_dimension(matrix);
    const unsigned k_dimension = k_is_lines_of == 0 ? 1 : 0;
    const int64_t tile = tile_[k_is_lines_of];
    slices.memory = open_memory(builder_, location_, matrix);
    slices.along_k = contiguous == static_cast<int>(k_dimension);
    slices.lines = slices.along_k ? tile : depth_of_slice_;
    slices.groups = (slices.along_k ? depth_of_slice_ : tile) / group_;
    slices.lines_size = slices.along_k ? size_[k_is_lines_of] : depth_;
    slices.line_size = slices.along_k ? depth_ : size_[k_is_lines_of];
    slices.stride = slices.memory.strides[static_cast<size_t>(1 - contiguous)];
    Value bits = builder_.create<LLVM::PtrToIntOp>(location_, builder_.getI64Type(), slices.memory.base);
    const Value line_bytes =
        builder_.create<LLVM::MulOp>(location_, slices.stride, make_i64(builder_, location_, element_bytes_));
    slices.unaligned = builder_.create<LLVM::AndOp>(location_, or_bits(bits, line_bytes),
                                                    make_i64(builder_, location_, kGroupBytes - 1));
    const auto type = mlir::MemRefType::get({stages_ * slices.stage_bytes()}, builder_.getI8Type());
    const Value memory = builder_.create<memref::AllocOp>(location_, type, builder_.getI64IntegerAttr(64));
    slices.shared = tensor_core::pointer_in(builder_, location_, open_memory(builder_, location_, memory).base,
                                            tensor_core::kShared);
    return slices;
  }

  Value byte_address(Value pointer, Value offset) {
    return builder_.create<LLVM::GEPOp>(location_, pointer.getType(), builder_.getI8Type(), pointer,
                                        ValueRange{as_i64(offset)});
  }

  // Where a group stands in a stage: eight lines that follow each other have it in eight places.
  Value group_offset(const Slices& slices, Value line, Value group) {
    const int64_t turns = std::min<int64_t>(8, slices.groups);
    const Value turn = remainder(quotient(line, 8 / turns), turns);
    return times(add(times(line, slices.groups), flip(group, turn)), kGroupBytes);
  }

  void write_tile(Value m0, Value n0) {
    const auto sum_count = static_cast<size_t>(warp_tile_[0] * warp_tile_[1] / kWarp);
    const mlir::Type sum_type = factors_.are_bytes() ? mlir::Type(builder_.getI32Type()) : builder_.getF32Type();
    const Value zero = builder_.create<arith::ConstantOp>(location_, builder_.getZeroAttr(sum_type));
    const Values start(sum_count, zero);
    Values sums;
    if (features_.has_async_copy) {
      const llvm::SmallVector<mlir::Type> types(sum_count, sum_type);
      sums = choose(
          is_aligned_, types, [&] { return multiply_on_the_way(m0, n0, start); },
          [&] { return multiply_in_turn(m0, n0, start); });
    } else {
      sums = multiply_in_turn(m0, n0, start);
    }
    store_sums(m0, n0, in_order(std::move(sums)));
  }

  // Slices are copied while others are multiplied, and so are the warp's own parts: those of the next piece are on
  // their way from shared memory while this one is multiplied, across the barrier too.
  Values multiply_on_the_way(Value m0, Value n0, const Values& start) {
    Block::barrier(builder_, location_);  // Other threads may still read the tile before.
    for (int64_t stage = 0; stage + 1 < stages_; ++stage) {
      begin_copies(m0, n0, index(stage * depth_of_slice_), index(stage));
    }
    tensor_core::wait_for_groups(builder_, location_, stages_ - 2);
    Block::barrier(builder_, location_);
    const Value count = quotient(add(depth_, depth_of_slice_ - 1), depth_of_slice_);
    Values values = start;
    llvm::append_range(values, load_parts(index(0), 0));
    const Values last = loop(count, 1, values, [&](Value step, ValueRange so_far) {
      const Value next = add(step, stages_ - 1), stage = remainder(step, stages_);
      begin_copies(m0, n0, times(next, depth_of_slice_), remainder(next, stages_));
      Values sums(so_far.take_front(start.size())), parts(so_far.drop_front(start.size()));
      for (int64_t k = 0; k < depth_of_slice_; k += depth_of_part_) {
        if (k + depth_of_part_ == depth_of_slice_) {
          tensor_core::wait_for_groups(builder_, location_, stages_ - 2);
          Block::barrier(builder_, location_);
        }
        const Values coming = k + depth_of_part_ < depth_of_slice_ ? load_parts(stage, k + depth_of_part_)
                                                                   : load_parts(remainder(add(step, 1), stages_), 0);
        sums = multiply_parts(parts, sums);
        parts = coming;
      }
      llvm::append_range(sums, parts);
      return sums;
    });
    tensor_core::wait_for_groups(builder_, location_, 0);
    return Values(llvm::ArrayRef<Value>(last).take_front(start.size()));
  }

  void begin_copies(Value m0, Value n0, Value k0, Value stage) {
    for (unsigned i = 0; i < 2; ++i) {
      const Slices& slices = slices_[i];
      const Value base = byte_address(slices.shared, times(stage, slices.stage_bytes()));
      for (int64_t done = 0; done < slices.lines * slices.groups; done += kThreads) {
        const Place at = place(slices, add(block_.thread(), done), i == 0 ? m0 : n0, k0);
        const Value bytes = cast_to_i32(times(elements_left(slices, at), element_bytes_));
        const Value source = select(is_something(bytes), address(slices, at), slices.memory.base);
        tensor_core::copy_async(builder_, location_, byte_address(base, at.offset),
                                tensor_core::pointer_in(builder_, location_, source, tensor_core::kGlobal), bytes);
      }
    }
    tensor_core::end_group(builder_, location_);
  }

  Value cast_to_i32(Value value) {
    return builder_.create<arith::IndexCastUIOp>(location_, builder_.getI32Type(), value);
  }
  Value is_something(Value number) {
    return compare(arith::CmpIPredicate::ne, number,
                   builder_.create<arith::ConstantOp>(location_, builder_.getZeroAttr(number.getType())));
  }

  // A group of a slice: where it is in the matrix, and in the stage.
  struct Place {
    Value line, element, offset;
  };
  Place place(const Slices& slices, Value number, Value begin, Value k0) {
    const Value line = quotient(number, slices.groups), group = remainder(number, slices.groups);
    return {add(slices.along_k ? begin : k0, line), add(slices.along_k ? k0 : begin, times(group, group_)),
            group_offset(slices, line, group)};
  }
  Value address(const Slices& slices, const Place& at) {
    const Value row = builder_.create<LLVM::MulOp>(location_, as_i64(at.line), slices.stride);
    Value offset = builder_.create<LLVM::AddOp>(location_, row, as_i64(at.element));
    // Groups of rows are those of an A whose lines are rows.
    if (const Value beyond = &slices == &slices_[0] ? grouped_->beyond(at.line) : Value()) {
      offset = builder_.create<LLVM::AddOp>(location_, offset, beyond);
    }
    return builder_.create<LLVM::GEPOp>(location_, slices.memory.base.getType(), stored_type(factors_.element),
                                        slices.memory.base, ValueRange{offset});
  }
  // How many of a group's elements the matrix has.
  Value elements_left(const Slices& slices, const Place& at) {
    const Value is_inside = both(is_below(at.line, slices.lines_size), is_below(at.element, slices.line_size));
    const Value rest = builder_.create<arith::SubIOp>(location_, slices.line_size, at.element);
    const Value most = builder_.create<arith::MinUIOp>(location_, rest, index(group_));
    return select(is_inside, most, index(0));
  }

  // A slice is brought, then multiplied.
  Values multiply_in_turn(Value m0, Value n0, const Values& start) {
    const Value count = quotient(add(depth_, depth_of_slice_ - 1), depth_of_slice_);
    return loop(count, 1, start, [&](Value step, ValueRange so_far) {
      Block::barrier(builder_, location_);
      const Value k0 = times(step, depth_of_slice_);
      bring(slices_[0], m0, k0);
      bring(slices_[1], n0, k0);
      Block::barrier(builder_, location_);
      return multiply(index(0), so_far);
    });
  }

  void bring(const Slices& slices, Value begin, Value k0) {
    const Value line0 = slices.along_k ? begin : k0, element0 = slices.along_k ? k0 : begin;
    const Value whole = both(is_aligned_, both(fits(line0, slices.lines, slices.lines_size),
                                               fits(element0, slices.groups * group_, slices.line_size)));
    choose(
        whole, {}, [&] { return bring_whole(slices, begin, k0); }, [&] { return bring_elements(slices, begin, k0); });
  }

  Values bring_whole(const Slices& slices, Value begin, Value k0) {
    Values loaded, offsets;
    const auto type = mlir::VectorType::get({4}, builder_.getI32Type());
    for (int64_t done = 0; done < slices.lines * slices.groups; done += kThreads) {
      const Place at = place(slices, add(block_.thread(), done), begin, k0);
      loaded.push_back(builder_.create<LLVM::LoadOp>(location_, type, address(slices, at), kGroupBytes));
      offsets.push_back(at.offset);
    }
    for (size_t i = 0; i < loaded.size(); ++i) {
      builder_.create<LLVM::StoreOp>(location_, loaded[i], byte_address(slices.shared, offsets[i]), kGroupBytes);
    }
    return {};
  }

  Values bring_elements(const Slices& slices, Value begin, Value k0) {
    block_.strided(builder_, location_, index(slices.lines * slices.groups), [&](OpBuilder& inside, Value number) {
      const OpBuilder::InsertionGuard guard(builder_);
      builder_.setInsertionPoint(inside.getInsertionBlock(), inside.getInsertionPoint());
      const Place at = place(slices, number, begin, k0);
      const Value left = elements_left(slices, at);
      const mlir::Type stored = stored_type(factors_.element);
      const auto type = mlir::VectorType::get({group_}, stored);
      Value group = builder_.create<arith::ConstantOp>(location_, builder_.getZeroAttr(type));
      const Value from = address(slices, at);
      for (int64_t i = 0; i < group_; ++i) {
        const Values element = choose(
            is_below(index(i), left), stored,
            [&]() -> Values {
              const Value address = byte_address(from, index(i * element_bytes_));
              return {builder_.create<LLVM::LoadOp>(location_, stored, address, element_bytes_)};
            },
            [&]() -> Values { return {builder_.create<arith::ConstantOp>(location_, builder_.getZeroAttr(stored))}; });
        group = builder_.create<LLVM::InsertElementOp>(location_, group, element[0], make_i32(builder_, location_, i));
      }
      builder_.create<LLVM::StoreOp>(location_, group, byte_address(slices.shared, at.offset), kGroupBytes);
    });
    return {};
  }

  // The warp's part of a stage.
  Values multiply(Value stage, ValueRange so_far) {
    Values sums(so_far);
    for (int64_t k = 0; k < depth_of_slice_; k += depth_of_part_) sums = multiply_parts(load_parts(stage, k), sums);
    return sums;
  }

  // What the warp multiplies of a stage from `k` on: of A, then of B, four values for each 16 x 16.
  Values load_parts(Value stage, int64_t k) {
    Values parts;
    for (unsigned i = 0; i < 2; ++i) {
      const Value base = byte_address(slices_[i].shared, times(stage, slices_[i].stage_bytes()));
      for (int64_t at = 0; at < warp_tile_[i]; at += kPart) llvm::append_range(parts, load_part(base, i, at, k));
    }
    return parts;
  }

  Values multiply_parts(const Values& parts, const Values& so_far) {
    Values sums = so_far;
    const auto rows = static_cast<size_t>(warp_tile_[0] / kPart),
               columns = static_cast<size_t>(warp_tile_[1] / kPartColumns);
    const ValueRange as = ValueRange(parts).take_front(rows * 4), bs = ValueRange(parts).drop_front(rows * 4);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < columns; ++j) {
        const size_t first = (i * columns + j) * 4;
        const Values next =
            tensor_core::multiply(builder_, location_, factors_, features_.has_async_copy, as.slice(i * 4, 4),
                                  bs.slice(j * 2, 2), ValueRange(sums).slice(first, 4));
        llvm::copy(next, sums.begin() + static_cast<std::ptrdiff_t>(first));
      }
    }
    return sums;
  }

  // 16 x 32 bytes of A (m, k), or of B (k, n) as two times eight columns: the four matrices in the order in which `multiply` wants
  // them. That is m first for A and k first for B.
  Values load_part(Value base, unsigned which, int64_t begin, int64_t k) {
    const Slices& slices = slices_[which];
    if (is_parted(which)) return load_parted(base, which, begin, k);
    const Value in_matrix = remainder(lane_, 8), second = remainder(quotient(lane_, 8), 2),
                fourth = quotient(lane_, 16);
    const Value along_mn = which == 0 ? second : fourth, along_k = which == 0 ? fourth : second;
    const Value first = add(warp_at_[which], begin);
    Value line, group;
    if (slices.along_k) {
      line = add(first, add(in_matrix, times(along_mn, 8)));
      group = add(along_k, k / group_);
    } else {
      line = add(add(in_matrix, times(along_k, 8)), k);
      group = add(quotient(first, group_), along_mn);
    }
    // A wants its rows as rows; B's rows are n.
    const bool turned = !slices.along_k;
    return tensor_core::load_matrices(builder_, location_, byte_address(base, group_offset(slices, line, group)),
                                      turned);
  }

  // Bytes that lie along m or n: a matrix is turned by pairs of them, so the even ones of 16 come together, and the odd ones. Lines
  // are given in such an order that a thread gets four that follow each other from two matrices.
  bool is_parted(unsigned which) const { return factors_.are_bytes() && !slices_[which].along_k; }

  Values load_parted(Value base, unsigned which, int64_t begin, int64_t k) {
    const Slices& slices = slices_[which];
    const Value matrix = quotient(lane_, 8), row = remainder(lane_, 8);
    // Line 4 * (row / 2) + row % 2, two further for odd matrices, 16 further for the last two.
    const Value in_four = add(remainder(row, 2), times(remainder(matrix, 2), 2));
    const Value line = add(add(times(quotient(row, 2), 4), in_four), add(times(quotient(matrix, 2), 16), k));
    const Value group = quotient(add(warp_at_[which], begin), group_);
    const Values loaded = tensor_core::load_matrices(
        builder_, location_, byte_address(base, group_offset(slices, line, group)), /*turned=*/true);
    const auto bytes = [&](size_t first, int64_t chosen) {
      return tensor_core::choose_bytes(builder_, location_, loaded[first], loaded[first + 1], chosen);
    };
    constexpr int64_t kEven = 0x6420, kOdd = 0x7531;
    const Value even = bytes(0, kEven), odd = bytes(0, kOdd), even_behind = bytes(2, kEven),
                odd_behind = bytes(2, kOdd);
    return which == 0 ? Values{even, odd, even_behind, odd_behind} : Values{even, even_behind, odd, odd_behind};
  }

  // Of the sums whose rows or columns are parted: as RowsOfSums wants them.
  Values in_order(Values sums) {
    static_assert(kPart == 2 * kPartColumns);
    for (size_t first = 0; first < sums.size(); first += 8) {  // Two times eight columns of 16 rows.
      if (is_parted(0)) {
        for (const size_t i : {first, first + 1, first + 4, first + 5}) join_rows(sums[i], sums[i + 2]);
      }
      if (is_parted(1)) {
        for (const size_t i : {first, first + 2}) join_columns(sums[i], sums[i + 1], sums[i + 4], sums[i + 5]);
      }
    }
    return sums;
  }

  // Four threads have an even row in `upper`, and the odd one behind it in `lower`; they want row `lane / 4` and the one eight
  // further.
  void join_rows(Value& upper, Value& lower) {
    const Value four = quotient(lane_, kFour), at = remainder(lane_, kFour), is_odd = is_something(remainder(four, 2));
    const Value from = add(times(quotient(four, 2), kFour), at);
    const Value above = take_either(is_odd, upper, lower, from),
                below = take_either(is_odd, upper, lower, add(from, 16));
    upper = above;
    lower = below;
  }

  // A thread has columns 4c and 4c + 2 of sixteen, and those behind them in the other two; it wants 2c and 2c + 1, and those
  // eight further.
  void join_columns(Value& first, Value& second, Value& odd_first, Value& odd_second) {
    const Value at = remainder(lane_, kFour), is_second = is_something(remainder(at, 2));
    const Value from = add(times(quotient(lane_, kFour), kFour), quotient(at, 2));
    const Value all[] = {take_either(is_second, first, second, from),
                         take_either(is_second, odd_first, odd_second, from),
                         take_either(is_second, first, second, add(from, 2)),
                         take_either(is_second, odd_first, odd_second, add(from, 2))};
    first = all[0];
    second = all[1];
    odd_first = all[2];
    odd_second = all[3];
  }

  // What thread `from` has as `a`, or as `b` where the thread that asks says so.
  Value take_either(Value is_b, Value a, Value b, Value from) {
    const Value lane = cast_to_i32(from);
    return select(is_b, tensor_core::take_from(builder_, location_, b, lane),
                  tensor_core::take_from(builder_, location_, a, lane));
  }

  void store_sums(Value m0, Value n0, const Values& sums) {
    const Value is_inside = both(fits(m0, tile_[0], size_[0]), fits(n0, tile_[1], size_[1]));
    rows_->store({lane_, add(m0, warp_at_[0]), add(n0, warp_at_[1]), size_[0], size_[1]}, is_inside, sums);
  }

  const Product& product_;
  Block& block_;
  const Features& features_;
  bool from_zero_;
  std::optional<RowsOfSums> rows_;
  tensor_core::Factors factors_;
  int64_t element_bytes_, group_;           // Elements of 16 bytes.
  int64_t depth_of_slice_, depth_of_part_;  // In elements.
  int64_t tile_[2], warp_tile_[2];          // Rows and columns of C.
  int64_t stages_;
  Slices slices_[2];  // Of A and B.
  std::optional<gpu::GroupedRows> grouped_;
  Value size_[2], depth_, lane_, warp_at_[2], is_aligned_;
};

bool takes(const Product& product, const Features& features) {
  const mlir::Type a = type_of(product.a).getElementType(), b = type_of(product.b).getElementType();
  const mlir::Type sum = product.sum_type;
  if (a != b || contiguous_dimension(product.a) < 0 || contiguous_dimension(product.b) < 0) return false;
  if (a.isInteger(8)) return sum.isInteger(32) && features.has_async_copy;
  return (a.isF16() || (a.isBF16() && features.has_async_copy)) && (sum == a || sum.isF32());
}

}  // namespace

bool write_tensor_core_product(OpBuilder& builder, Location location, const Product& product, Block& block,
                               bool from_zero) {
  if (!takes(product, block.features())) return false;
  TensorCoreWriter(builder, location, product, block, block.features(), from_zero).write();
  return true;
}

}  // namespace baton::compiler_lite::codegen::cuda
