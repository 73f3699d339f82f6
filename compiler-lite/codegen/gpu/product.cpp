// A block computes a tile of C; its threads stand in a square of 16 x 16, each with sums of some rows and columns in registers:
// 8 x 8 where the tile is large. Of a small tile with many steps the threads are four groups of 8 x 8, each of which has a
// quarter of the steps of a slice: a thread reads less of the slices for each multiplication. A slice of A and one of B lie in
// shared memory while they are multiplied, and the next ones beside them:
//
//   for m0, n0 in tiles of C
//     first slice of A (depth x rows, turned) and of B (depth x columns) into shared memory, zeros beyond the edge
//     for each slice, of all turns
//       the next ones into registers
//       for k in the slice: sums += column of A * row of B
//       the next ones into shared memory; barrier
//     the groups' sums joined
//     C += sums
//
// A warp is 4 rows of 8 threads, so that what it reads of a row of a slice at once are neighbours.
#include "compiler-lite/codegen/gpu/product.hpp"

#include "compiler-lite/codegen/gpu/grouped_rows.hpp"
#include "compiler-lite/codegen/gpu/slice_steps.hpp"
#include "compiler-lite/codegen/gpu/sum_writer.hpp"
#include "compiler-lite/codegen/gpu/tile_writer.hpp"
#include "compiler-lite/codegen/kernel.hpp"
#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "compiler-lite/codegen/product.hpp"

namespace baton::compiler_lite::codegen::gpu {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace memref = mlir::memref;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

constexpr int64_t kSide = 16;  // Threads along each side.
constexpr int64_t kGroups = 4, kGroupSide = 8;
// Of a thread's rows and columns.
constexpr int64_t kMany = 8, kFew = 4;
// Steps for which joining what groups have summed isn't worth it.
constexpr int64_t kFewSteps = 128;
// Rows of a slice end apart from where banks of shared memory repeat.
constexpr int64_t kPadding = 4;
// A thread's elements of a row come in runs that one access of 16 bytes takes.
constexpr int64_t kRun = 4;
// Of shared memory, in bytes.
constexpr int64_t kLittleRoom = 32 * 1024;

// Writes one tile's product. Its many methods are the steps of one pipeline of slices and sums, which share the tile's sizes and
// the places of threads that the members are.
class SquareTileWriter : TileWriter {
 public:
  SquareTileWriter(OpBuilder& builder, Location location, const Product& product, Block& block, bool from_zero)
      : TileWriter(builder, location), product_(product), block_(block), from_zero_(from_zero) {
    const auto type = type_of(product.c);
    element_ = product.sum_type;
    // Sums of small floats are kept in f32.
    if (llvm::isa<mlir::FloatType>(element_) && element_.getIntOrFloatBitWidth() < 32) element_ = builder.getF32Type();
    const bool large = !type.isDynamicDim(0) && !type.isDynamicDim(1) && type.getDimSize(0) >= 128 &&
                       type.getDimSize(1) >= 128 && element_.getIntOrFloatBitWidth() <= 32;
    const bool many_steps = SliceSteps::steps_of(product) >= kFewSteps;
    if (!large && many_steps && element_.getIntOrFloatBitWidth() == 32) groups_ = kGroups, side_ = kGroupSide;
    for (unsigned i = 0; i < 2; ++i) {
      const bool is_short = !type.isDynamicDim(i) && type.getDimSize(i) <= kFew * side_;
      own_[i] = large || (groups_ > 1 && !is_short) ? kMany : kFew;
      tile_[i] = own_[i] * side_;
    }
    // Two slices of each matrix have to find room, and beside them what the kernel makes of the product.
    const bool tight = stored_bytes(element_) > 4 && block.features().shared_bytes_max <= kLittleRoom;
    depth_ = large || tight ? 8 : 16;
    for (unsigned i = 0; i < 2; ++i) run_[i] = std::min(kRun, tile_[i] * depth_ / block.threads());
    const int64_t bytes = 2 * depth_ * (tile_[0] + tile_[1] + 2 * kPadding) * stored_bytes(element_);
    padding_ = bytes <= block.features().shared_bytes_max ? kPadding : 0;
  }

  void write() {
    // The registers of a large square are just few enough for two.
    if (own_[0] * own_[1] > kRun * kRun && element_.getIntOrFloatBitWidth() == 32) block_.want_two();
    for (unsigned i = 0; i < 2; ++i) slice_[i] = make_slice(i);
    place_thread();
    height_ = size_of(product_.c, 0);
    width_ = size_of(product_.c, 1);
    steps_ = size_of(product_.a, 1);
    slices_.emplace(builder_, location_, product_, steps_, depth_);
    grouped_.emplace(builder_, location_, product_);
    matrix_[0] = open(product_.a, 0);
    matrix_[1] = open(product_.b, 1);
    writer_.emplace(builder_, location_, product_, from_zero_, kRun);
    loop(height_, tile_[0], {}, [&](Value m0, ValueRange) {
      loop(width_, tile_[1], {}, [&](Value n0, ValueRange) {
        write_tile(m0, n0);
        return Values();
      });
      return Values();
    });
  }

 private:
  // A matrix in memory; its runs lie along `fastest`, where one knows it, and may be taken at once if `is_aligned`.
  // `ends_with_run`: no edge goes through a run.
  struct Matrix {
    Memory memory;
    int fastest;
    int along_tile;  // The dimension that the tile's rows or columns are.
    int64_t run;     // Elements that a thread brings at once.
    bool ends_with_run;
    Value is_aligned;
  };
  // Some elements of a slice that follow each other in memory: the first one's place along the tile and along k.
  struct Run {
    Value at, k;
    bool goes_along_tile;
  };

  // Two of them.
  Value make_slice(unsigned i) {
    const auto type = mlir::MemRefType::get({2 * depth_, tile_[i] + padding_}, element_);
    // Several products of a kernel find little room on devices that offer the least.
    if (block_.features().shared_bytes_max <= kLittleRoom) return block_.shared(type, i);
    return builder_.create<memref::AllocOp>(location_, type, builder_.getI64IntegerAttr(16));
  }

  // Where the i-th of a thread's rows or columns lies in the tile, for the thread's place along that side.
  Value place(Value side, int64_t i) {
    const Value run = builder_.create<arith::MulIOp>(location_, side, index(kRun));
    return add(run, index(i / kRun * kRun * side_ + i % kRun));
  }

  void place_thread() {
    constexpr int64_t kLaneRows = 4, kLaneColumns = 8;
    group_ = quotient(block_.thread(), side_ * side_);
    in_group_ = remainder(block_.thread(), side_ * side_);
    const Value lane = remainder(in_group_, kWarp), warp = quotient(in_group_, kWarp);
    const int64_t warps_across = side_ / kLaneColumns;
    row_ = add(times(quotient(warp, warps_across), kLaneRows), quotient(lane, kLaneColumns));
    column_ = add(times(remainder(warp, warps_across), kLaneColumns), remainder(lane, kLaneColumns));
  }

  Matrix open(Value memory, unsigned i) {
    Matrix matrix{open_memory(builder_, location_, memory),
                  contiguous_dimension(memory),
                  static_cast<int>(i),
                  run_[i],
                  false,
                  {}};
    if (matrix.fastest < 0) {
      matrix.is_aligned = builder_.create<arith::ConstantIntOp>(location_, 0, 1);
      return matrix;
    }
    const int64_t along = type_of(memory).getDimSize(static_cast<unsigned>(matrix.fastest));
    matrix.ends_with_run = !mlir::ShapedType::isDynamic(along) && along % matrix.run == 0;
    const int64_t bytes = matrix.run * stored_bytes(matrix.memory.element);
    const int64_t element_bytes = stored_bytes(matrix.memory.element);
    Value bits = builder_.create<mlir::LLVM::OrOp>(
        location_, unaligned_bits(builder_, location_, matrix.memory, bytes, matrix.fastest),
        slices_->unaligned_bits(i, element_bytes, bytes));
    if (i == 0) {
      bits = builder_.create<mlir::LLVM::OrOp>(location_, bits, grouped_->unaligned_bits(element_bytes, bytes));
    }
    matrix.is_aligned =
        builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, bits, make_i64(builder_, location_, 0));
    return matrix;
  }

  void write_tile(Value m0, Value n0) {
    const Value zero = builder_.create<arith::ConstantOp>(location_, element_, builder_.getZeroAttr(element_));
    const auto sum_count = static_cast<size_t>(own_[0] * own_[1]);
    keep_slices(load_slices(m0, n0, slice_at(index(0))), index(0));
    Block::barrier(builder_, location_);
    Values start(sum_count, zero);
    start.push_back(index(0));
    const int64_t step = in_turns() ? 1 : depth_;
    const Values last = loop(in_turns() ? slices_->count() : steps_, step, start, [&](Value number, ValueRange so_far) {
      // On their way while this slice is multiplied.
      const Values loaded = load_slices(m0, n0, slice_at(add(number, step)));
      const Value half = so_far.back();
      Values next = multiply(so_far.take_front(sum_count), half);
      const Value other = builder_.create<arith::SubIOp>(location_, index(depth_), half);
      keep_slices(loaded, other);
      Block::barrier(builder_, location_);
      next.push_back(other);
      return next;
    });
    const llvm::ArrayRef<Value> sums = llvm::ArrayRef<Value>(last).take_front(sum_count);
    if (groups_ == 1) return store_sums(m0, n0, sums);
    const Values joined = join(sums);
    only_if(is_group(0), [&] { store_sums(m0, n0, joined); });
  }

  // Without turns slices are told by their first steps.
  bool in_turns() const { return !product_.turns.empty(); }
  SliceSteps::Slice slice_at(Value number) {
    return in_turns() ? slices_->at(number) : SliceSteps::Slice{number, {index(0), index(0)}};
  }

  Value is_group(int64_t number) {
    return builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, group_, index(number));
  }

  // The first group adds what the others have summed, one after the other, through the memory of the slices: all threads'
  // first sums, their second ones, and so on, first in A's and then in B's.
  Values join(ValueRange sums) {
    Values total(sums);
    const int64_t in_first = 2 * depth_ * tile_[0] / (side_ * side_);
    const auto place_of = [&](size_t number) {
      const auto i = static_cast<int64_t>(number);
      const unsigned which = i < in_first ? 0 : 1;
      const Value place = add(in_group_, (which == 0 ? i : i - in_first) * side_ * side_);
      return std::pair(slice_[which], Values{quotient(place, tile_[which]), remainder(place, tile_[which])});
    };
    for (int64_t giver = 1; giver < groups_; ++giver) {
      only_if(is_group(giver), [&] {
        for (size_t i = 0; i < sums.size(); ++i) {
          const auto [slice, at] = place_of(i);
          builder_.create<memref::StoreOp>(location_, sums[i], slice, at);
        }
      });
      Block::barrier(builder_, location_);
      const auto with_given = [&] {
        Values added;
        for (size_t i = 0; i < total.size(); ++i) {
          const auto [slice, at] = place_of(i);
          added.push_back(sum(total[i], builder_.create<memref::LoadOp>(location_, slice, at)));
        }
        return added;
      };
      total =
          choose(is_group(0), llvm::SmallVector<mlir::Type>(sums.size(), element_), with_given, [&] { return total; });
      Block::barrier(builder_, location_);
    }
    return total;
  }

  void store_sums(Value m0, Value n0, ValueRange sums) {
    const Value whole = both(is_whole_tile(m0, n0), writer_->is_aligned());
    choose(
        whole, {}, [&] { return store_square(m0, n0, sums, writer_->at_once(), false); },
        [&] { return store_square(m0, n0, sums, 1, true); });
  }

  Values store_square(Value m0, Value n0, ValueRange sums, int64_t count, bool checked) {
    for (int64_t i = 0; i < own_[0]; ++i) {
      for (int64_t j = 0; j < own_[1]; j += count) {
        const Value row = add(m0, place(row_, i)), column = add(n0, place(column_, j));
        const ValueRange some = sums.slice(static_cast<size_t>(i * own_[1] + j), static_cast<size_t>(count));
        if (!checked) {
          writer_->write(builder_, row, column, some);
        } else {
          only_if(both(is_below(row, height_), is_below(column, width_)),
                  [&] { writer_->write(builder_, row, column, some); });
        }
      }
    }
    return {};
  }

  Value is_whole_tile(Value m0, Value n0) { return both(fits(m0, tile_[0], height_), fits(n0, tile_[1], width_)); }

  // Whether a tile or a slice may be cut.
  bool has_edges() {
    const auto is_divided = [](mlir::MemRefType type, unsigned dimension, int64_t by) {
      return !type.isDynamicDim(dimension) && type.getDimSize(dimension) % by == 0;
    };
    const mlir::MemRefType a = type_of(product_.a), c = type_of(product_.c);
    return !is_divided(c, 0, tile_[0]) || !is_divided(c, 1, tile_[1]) || !is_divided(a, 1, depth_);
  }

  // What has to be asked before a run is read.
  enum class Check { kNothing, kRun, kEachElement };

  // This thread's elements of both slices.
  Values load_slices(Value m0, Value n0, const SliceSteps::Slice& slice) {
    const Value whole = both(is_whole_tile(m0, n0), fits(slice.k0, depth_, steps_));
    const Value aligned = both(matrix_[0].is_aligned, matrix_[1].is_aligned);
    const int64_t count = (tile_[0] + tile_[1]) * depth_ / block_.threads();
    const llvm::SmallVector<mlir::Type> types(static_cast<size_t>(count), element_);
    const auto load = [&](Check check) {
      Values loaded;
      for (unsigned i = 0; i < 2; ++i) {
        const Matrix moved = move(matrix_[i], slice.offsets[i]);
        const Value begin = i == 0 ? m0 : n0, end = i == 0 ? height_ : width_;
        for (const Run& run : runs(moved)) {
          Values first{add(begin, run.at), add(slice.k0, run.k)}, ends{end, steps_};
          if (i == 1) std::swap(first[0], first[1]), std::swap(ends[0], ends[1]);
          llvm::append_range(loaded, load_run(moved, first, ends, check));
        }
      }
      return loaded;
    };
    const auto load_each = [&] { return load(Check::kEachElement); };
    const auto load_all = [&] { return load(Check::kNothing); };
    if (!matrix_[0].ends_with_run || !matrix_[1].ends_with_run || !has_edges()) {
      return choose(both(whole, aligned), types, load_all, load_each);
    }
    return choose(
        aligned, types, [&] { return choose(whole, types, load_all, [&] { return load(Check::kRun); }); }, load_each);
  }

  Matrix move(const Matrix& matrix, Value offset) {
    if (!in_turns()) return matrix;
    Matrix moved = matrix;
    moved.memory.base = builder_.create<mlir::LLVM::GEPOp>(
        location_, matrix.memory.base.getType(), stored_type(matrix.memory.element), matrix.memory.base,
        ValueRange{cast(builder_, location_, offset, builder_.getI64Type())});
    return moved;
  }

  // What this thread brings of a slice of `matrix`, whose rows or columns go along the tile.
  llvm::SmallVector<Run> runs(const Matrix& matrix) {
    const bool goes_along_tile = matrix.fastest == matrix.along_tile;
    const int64_t tile = tile_[matrix.along_tile], in_line = (goes_along_tile ? tile : depth_) / matrix.run;
    llvm::SmallVector<Run> all;
    for (int64_t done = 0; done < tile * depth_ / matrix.run; done += block_.threads()) {
      const Value number = add(block_.thread(), index(done));
      const Value fast = times(remainder(number, in_line), matrix.run), slow = quotient(number, in_line);
      all.push_back(goes_along_tile ? Run{fast, slow, true} : Run{slow, fast, false});
    }
    return all;
  }

  // Elements in the type of the sums; zeros beyond the edge.
  Values load_run(const Matrix& matrix, ValueRange first, ValueRange ends, Check check) {
    if (check == Check::kNothing) {
      return load_at(matrix, address_in(matrix, first), matrix.run);
    }
    if (check == Check::kRun) return load_checked(matrix, first, ends, matrix.run);
    Values elements, at(first);
    // Runs of unknown strides go along k.
    const auto along = static_cast<size_t>(matrix.fastest >= 0 ? matrix.fastest : 1 - matrix.along_tile);
    for (int64_t i = 0; i < matrix.run; ++i) {
      at[along] = add(first[along], index(i));
      llvm::append_range(elements, load_checked(matrix, at, ends, 1));
    }
    return elements;
  }

  Value address_in(const Matrix& matrix, ValueRange at) {
    const Value address = strided_address_of(builder_, location_, matrix.memory, at);
    const Value beyond = matrix.along_tile == 0 ? grouped_->beyond(at[0]) : Value();
    if (!beyond) return address;
    return builder_.create<mlir::LLVM::GEPOp>(location_, address.getType(), stored_type(matrix.memory.element), address,
                                              ValueRange{beyond});
  }

  Values load_at(const Matrix& matrix, Value address, int64_t count) {
    Values elements = load_elements(builder_, location_, matrix.memory, address, count);
    for (Value& each : elements) each = convert_element(builder_, location_, each, element_, product_.is_unsigned);
    return elements;
  }

  // A thread beyond the edge reads the first element: that is cheaper than a branch, and the optimizer leaves the runs alone.
  Values load_checked(const Matrix& matrix, ValueRange at, ValueRange ends, int64_t count) {
    const Value is_inside = both(is_below(at[0], ends[0]), is_below(at[1], ends[1]));
    const Value there = address_in(matrix, at);
    const Value address = builder_.create<arith::SelectOp>(location_, is_inside, there, matrix.memory.base);
    Values elements = load_at(matrix, address, count);
    const Value zero = builder_.create<arith::ConstantOp>(location_, element_, builder_.getZeroAttr(element_));
    for (Value& each : elements) each = builder_.create<arith::SelectOp>(location_, is_inside, each, zero);
    return elements;
  }

  void keep_slices(ValueRange loaded, Value half) {
    for (unsigned i = 0; i < 2; ++i) {
      const auto count = static_cast<size_t>(matrix_[i].run);
      for (const Run& run : runs(matrix_[i])) {
        keep_run(slice_[i], run, half, loaded.take_front(count));
        loaded = loaded.drop_front(count);
      }
    }
  }

  void keep_run(Value slice, const Run& run, Value half, ValueRange elements) {
    const Memory memory = open_memory(builder_, location_, slice);
    const Value k = add(half, run.k);
    if (run.goes_along_tile) {
      const Value address = address_of(builder_, location_, memory, ValueRange{k, run.at});
      return store_elements(builder_, location_, memory, address, elements);
    }
    for (size_t i = 0; i < elements.size(); ++i) {
      builder_.create<memref::StoreOp>(location_, elements[i], slice,
                                       ValueRange{add(k, static_cast<int64_t>(i)), run.at});
    }
  }

  // A thread's elements of a row of a slice, a run at a time.
  Values read_row(const Memory& slice, Value k, Value side, int64_t count) {
    Values elements;
    for (int64_t run = 0; run < count / kRun; ++run) {
      const Value address = address_of(builder_, location_, slice, ValueRange{k, place(side, run * kRun)});
      llvm::append_range(elements, load_elements(builder_, location_, slice, address, kRun));
    }
    return elements;
  }

  Values multiply(ValueRange so_far, Value half) {
    Values sums(so_far);
    const Memory a = open_memory(builder_, location_, slice_[0]), b = open_memory(builder_, location_, slice_[1]);
    const int64_t own = depth_ / groups_;
    const Value first = add(half, times(group_, own));
    for (int64_t i = 0; i < own; ++i) {
      const Value k = add(first, index(i));
      const Values as = read_row(a, k, row_, own_[0]), bs = read_row(b, k, column_, own_[1]);
      add_products(sums, as, bs);
    }
    return sums;
  }

  void add_products(Values& sums, const Values& as, const Values& bs) {
    for (size_t i = 0; i < as.size(); ++i) {
      for (size_t j = 0; j < bs.size(); ++j) {
        Value& total = sums[i * bs.size() + j];
        total = sum(total, element_product(as[i], bs[j]));
      }
    }
  }

  // Contracted to one instruction.
  Value element_product(Value a, Value b) {
    if (llvm::isa<mlir::FloatType>(element_)) {
      return builder_.create<arith::MulFOp>(location_, a, b, arith::FastMathFlags::contract);
    }
    return builder_.create<arith::MulIOp>(location_, a, b);
  }
  Value sum(Value a, Value b) {
    if (llvm::isa<mlir::FloatType>(element_)) {
      return builder_.create<arith::AddFOp>(location_, a, b, arith::FastMathFlags::contract);
    }
    return builder_.create<arith::AddIOp>(location_, a, b);
  }

  const Product& product_;
  Block& block_;
  bool from_zero_;
  mlir::Type element_;
  // Of rows and of columns: how many sums a thread has of them, and a tile; and what a thread brings of A's and B's at once.
  int64_t own_[2], tile_[2], run_[2];
  int64_t depth_, padding_, groups_ = 1, side_ = kSide;
  Matrix matrix_[2];  // A and B.
  Value slice_[2];
  std::optional<SliceSteps> slices_;
  std::optional<GroupedRows> grouped_;
  std::optional<SumWriter> writer_;
  Value group_, in_group_, row_, column_, height_, width_, steps_;
};

// Threads of a warp write sums to several rows at once: where C is a temporary whose rows fill whole turns of the banks of
// shared memory, they would wait for each other, so its rows come to lie further apart.
void part_rows(mlir::IRRewriter& rewriter, linalg::LinalgOp op) {
  constexpr int64_t kBankTurn = 128, kApart = 32;
  auto alloc = op.getDpsInits()[0].getDefiningOp<memref::AllocOp>();
  if (!alloc || !alloc.getType().hasStaticShape() || !alloc.getType().getLayout().isIdentity()) return;
  const mlir::MemRefType type = alloc.getType();
  const int64_t bytes = stored_bytes(type.getElementType());
  if (type.getRank() < 2 || type.getShape().back() * bytes % kBankTurn != 0 || kApart % bytes != 0) return;
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape.back() += kApart / bytes;
  rewriter.setInsertionPoint(alloc);
  const Value larger = rewriter.create<memref::AllocOp>(
      alloc.getLoc(), mlir::MemRefType::get(shape, type.getElementType()), alloc.getAlignmentAttr());
  const llvm::SmallVector<mlir::OpFoldResult> zeros(shape.size(), rewriter.getIndexAttr(0)),
      ones(shape.size(), rewriter.getIndexAttr(1));
  llvm::SmallVector<mlir::OpFoldResult> sizes;
  for (const int64_t size : type.getShape()) sizes.push_back(rewriter.getIndexAttr(size));
  for (mlir::Operation* user : llvm::make_early_inc_range(alloc->getUsers())) {
    if (llvm::isa<memref::DeallocOp>(user)) rewriter.eraseOp(user);
  }
  rewriter.replaceOpWithNewOp<memref::SubViewOp>(alloc, larger, zeros, sizes, ones);
}

void add_last(Product& product, linalg::LinalgOp op, mlir::OpOperand& sums) {
  product.last = llvm::cast<linalg::GenericOp>(sums.getOwner());
  product.sums_of_last = &sums;
  product.last_loops.resize(op.getNumLoops());
  const mlir::AffineMap c = op.getIndexingMapsArray()[2], read = product.last.getMatchingIndexingMap(&sums);
  for (unsigned i = 0; i < c.getNumResults(); ++i) {
    product.last_loops[c.getDimPosition(i)] = read.getDimPosition(i);
  }
}

bool may_be_instructions(linalg::LinalgOp op, const Features& features) {
  return features.write_product && has_small_factors(op);
}

}  // namespace

bool has_sums_type(mlir::Type type) {
  const mlir::Type element = mlir::getElementTypeOrSelf(type);
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8;
}

bool takes_product(linalg::LinalgOp op, const Block& block) {
  // Tiles are for what is worth a kernel of its own.
  if (op->getParentOfType<mlir::func::FuncOp>()->hasAttr(kUndivided)) return false;
  if (!has_sums_type(op.getDpsInits()[0].getType()) || block.threads() != kSide * kSide) return false;
  const std::optional<ProductForm> form = product_form(op);
  return form && !is_tiny(op, *form);
}

bool keeps_sums(linalg::LinalgOp op, const ProductForm& form, const Features& features) {
  return !may_be_instructions(op, features) || sums_at_once(op, form);
}

mlir::Operation* lower_product(mlir::IRRewriter& rewriter, linalg::LinalgOp op, Block& block, bool from_zero,
                               mlir::OpOperand* sums_of_last) {
  if (!takes_product(op, block)) return nullptr;
  const OpBuilder::InsertionGuard guard(rewriter);
  const Features& features = block.features();
  const ProductForm form = with_row_groups(op, *product_form(op));
  if (features.write_product) part_rows(rewriter, op);
  const auto open = [&](bool leaves_turns) {
    Product product = open_product(rewriter, op, form, leaves_turns, /*leaves_groups=*/true);
    if (sums_of_last) add_last(product, op, *sums_of_last);
    return product;
  };
  for (const bool leaves_turns : {true, false}) {
    if (!may_be_instructions(op, features) || (leaves_turns && !features.makes_turns)) continue;
    if (features.write_product(rewriter, op.getLoc(), open(leaves_turns), block, from_zero)) return op;
  }
  SquareTileWriter(rewriter, op.getLoc(), open(/*leaves_turns=*/true), block, from_zero).write();
  return op;
}

}  // namespace baton::compiler_lite::codegen::gpu
