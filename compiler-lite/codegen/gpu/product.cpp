// A block computes a tile of C; its threads stand in a square of 16 x 16, each with a square of sums in registers: of 8 x 8
// where the tile is large. Of a small tile with many steps the threads are four groups of 8 x 8, each of which has a quarter of
// the steps of a slice: a thread reads less of the slices for each multiplication. A slice of A and one of B lie in shared memory while they are multiplied, and the next ones beside
// them:
//
//   for m0, n0 in tiles of C
//     first slice of A (depth x rows, turned) and of B (depth x columns) into shared memory, zeros beyond the edge
//     for k0 in steps of depth
//       the next ones into registers
//       for k in the slice: sums += column of A * row of B
//       the next ones into shared memory; barrier
//     the groups' sums joined
//     C += sums
//
// A warp is 4 rows of 8 threads, so that what it reads of a row of a slice at once are neighbours.
#include "compiler-lite/codegen/gpu/product.hpp"

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
// Steps for which joining what groups have summed isn't worth it.
constexpr int64_t kFewSteps = 128;
// Rows of a slice end apart from where banks of shared memory repeat.
constexpr int64_t kPadding = 4;
// A thread's elements of a row come in runs that one access of 16 bytes takes.
constexpr int64_t kRun = 4;
// Of shared memory, in bytes.
constexpr int64_t kLittleRoom = 32 * 1024;

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
    const int64_t steps = type_of(product.a).getDimSize(1);
    const bool many_steps = mlir::ShapedType::isDynamic(steps) || steps >= kFewSteps;
    if (!large && many_steps && element_.getIntOrFloatBitWidth() == 32) groups_ = kGroups, side_ = kGroupSide;
    square_ = large || groups_ > 1 ? 8 : 4;
    tile_ = square_ * side_;
    // Two slices of each matrix have to find room, and beside them what the kernel makes of the product.
    const bool tight = stored_bytes(element_) > 4 && block.features().shared_bytes_max <= kLittleRoom;
    depth_ = large || tight ? 8 : 16;
    run_ = std::min(kRun, tile_ * depth_ / block.threads());
    const int64_t bytes = 4 * depth_ * (tile_ + kPadding) * stored_bytes(element_);
    padding_ = bytes <= block.features().shared_bytes_max ? kPadding : 0;
  }

  void write() {
    // The registers of a large square are just few enough for two.
    if (square_ > kRun && element_.getIntOrFloatBitWidth() == 32) block_.want_two();
    a_slice_ = slice();
    b_slice_ = slice();
    place_thread();
    height_ = size_of(product_.c, 0);
    width_ = size_of(product_.c, 1);
    steps_ = size_of(product_.a, 1);
    a_ = open(product_.a);
    b_ = open(product_.b);
    writer_.emplace(builder_, location_, product_, from_zero_, kRun);
    loop(height_, tile_, {}, [&](Value m0, ValueRange) {
      loop(width_, tile_, {}, [&](Value n0, ValueRange) {
        write_tile(m0, n0);
        return Values();
      });
      return Values();
    });
  }

 private:
  // A matrix in memory; its runs lie along `fastest`, where one knows it, and may be taken at once if `is_aligned`.
  struct Matrix {
    Memory memory;
    int fastest;
    Value is_aligned;
  };
  // Some elements of a slice that follow each other in memory: the first one's place along the tile and along k.
  struct Run {
    Value at, k;
    bool goes_along_tile;
  };

  // Two of them.
  Value slice() {
    const auto type = mlir::MemRefType::get({2 * depth_, tile_ + padding_}, element_);
    // Several products of a kernel find little room on devices that offer the least.
    if (block_.features().shared_bytes_max <= kLittleRoom) return block_.shared(type, slices_++);
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

  Matrix open(Value memory) {
    Matrix matrix{open_memory(builder_, location_, memory), contiguous_dimension(memory), {}};
    const int64_t bytes = run_ * stored_bytes(matrix.memory.element);
    if (matrix.fastest < 0) {
      matrix.is_aligned = builder_.create<arith::ConstantIntOp>(location_, 0, 1);
    } else {
      const Value bits = unaligned_bits(builder_, location_, matrix.memory, bytes, matrix.fastest);
      matrix.is_aligned =
          builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, bits, make_i64(builder_, location_, 0));
    }
    return matrix;
  }

  void write_tile(Value m0, Value n0) {
    const Value zero = builder_.create<arith::ConstantOp>(location_, element_, builder_.getZeroAttr(element_));
    const size_t sum_count = static_cast<size_t>(square_ * square_);
    keep_slices(load_slices(m0, n0, index(0)), index(0));
    Block::barrier(builder_, location_);
    Values start(sum_count, zero);
    start.push_back(index(0));
    const Values last = loop(steps_, depth_, start, [&](Value k0, ValueRange so_far) {
      // On their way while this slice is multiplied.
      const Values loaded = load_slices(m0, n0, add(k0, index(depth_)));
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

  Value is_group(int64_t number) {
    return builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, group_, index(number));
  }

  // The first group adds what the others have summed, one after the other, through the memory of the slices: a row for
  // each sum, a column for each thread.
  Values join(ValueRange sums) {
    Values total(sums);
    const auto place_of = [&](size_t i) {
      const auto rows = static_cast<size_t>(2 * depth_);
      return std::pair(i < rows ? a_slice_ : b_slice_, Values{index(static_cast<int64_t>(i % rows)), in_group_});
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
    const Value whole = both(both(fits(m0, tile_, height_), fits(n0, tile_, width_)), writer_->is_aligned());
    choose(
        whole, {}, [&] { return store_square(m0, n0, sums, writer_->at_once(), false); },
        [&] { return store_square(m0, n0, sums, 1, true); });
  }

  Values store_square(Value m0, Value n0, ValueRange sums, int64_t count, bool checked) {
    for (int64_t i = 0; i < square_; ++i) {
      for (int64_t j = 0; j < square_; j += count) {
        const Value row = add(m0, place(row_, i)), column = add(n0, place(column_, j));
        const ValueRange some = sums.slice(static_cast<size_t>(i * square_ + j), static_cast<size_t>(count));
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

  // This thread's elements of both slices.
  Values load_slices(Value m0, Value n0, Value k0) {
    Value whole = both(both(fits(m0, tile_, height_), fits(n0, tile_, width_)), fits(k0, depth_, steps_));
    whole = both(whole, both(a_.is_aligned, b_.is_aligned));
    const llvm::SmallVector<mlir::Type> types(static_cast<size_t>(2 * tile_ * depth_ / block_.threads()), element_);
    const auto load = [&](bool is_whole) {
      Values loaded;
      for (const Run& run : runs(a_, 0)) {
        llvm::append_range(loaded, load_run(a_, {add(m0, run.at), add(k0, run.k)}, {height_, steps_}, is_whole));
      }
      for (const Run& run : runs(b_, 1)) {
        llvm::append_range(loaded, load_run(b_, {add(k0, run.k), add(n0, run.at)}, {steps_, width_}, is_whole));
      }
      return loaded;
    };
    return choose(
        whole, types, [&] { return load(true); }, [&] { return load(false); });
  }

  // What this thread brings of a slice of `matrix`, whose rows or columns go along the tile.
  llvm::SmallVector<Run> runs(const Matrix& matrix, int along_tile) {
    const bool goes_along_tile = matrix.fastest == along_tile;
    const int64_t in_line = (goes_along_tile ? tile_ : depth_) / run_;
    llvm::SmallVector<Run> all;
    for (int64_t done = 0; done < tile_ * depth_ / run_; done += block_.threads()) {
      const Value number = add(block_.thread(), index(done));
      const Value fast = times(remainder(number, in_line), run_), slow = quotient(number, in_line);
      all.push_back(goes_along_tile ? Run{fast, slow, true} : Run{slow, fast, false});
    }
    return all;
  }

  // Elements in the type of the sums; zeros beyond the edge.
  Values load_run(const Matrix& matrix, ValueRange first, ValueRange ends, bool is_whole) {
    if (is_whole) {
      const Value address = strided_address_of(builder_, location_, matrix.memory, first);
      Values elements = load_elements(builder_, location_, matrix.memory, address, run_);
      for (Value& each : elements) each = convert_element(builder_, location_, each, element_, product_.is_unsigned);
      return elements;
    }
    Values elements, at(first);
    // Runs of unknown strides go along k.
    const size_t along = matrix.fastest >= 0 ? static_cast<size_t>(matrix.fastest) : &matrix == &a_ ? 1 : 0;
    for (int64_t i = 0; i < run_; ++i) {
      at[along] = add(first[along], index(i));
      elements.push_back(load_checked(matrix, at, ends));
    }
    return elements;
  }

  // A thread beyond the edge reads the first element: that is cheaper than a branch, and the optimizer leaves the runs alone.
  Value load_checked(const Matrix& matrix, ValueRange at, ValueRange ends) {
    const Value is_inside = both(is_below(at[0], ends[0]), is_below(at[1], ends[1]));
    const Value there = strided_address_of(builder_, location_, matrix.memory, at);
    const Value address = builder_.create<arith::SelectOp>(location_, is_inside, there, matrix.memory.base);
    const Values loaded = load_elements(builder_, location_, matrix.memory, address, 1);
    const Value element = convert_element(builder_, location_, loaded[0], element_, product_.is_unsigned);
    const Value zero = builder_.create<arith::ConstantOp>(location_, element_, builder_.getZeroAttr(element_));
    return builder_.create<arith::SelectOp>(location_, is_inside, element, zero);
  }

  void keep_slices(ValueRange loaded, Value half) {
    const auto count = static_cast<size_t>(run_);
    for (const auto& [matrix, slice, along] : {std::tuple(&a_, a_slice_, 0), std::tuple(&b_, b_slice_, 1)}) {
      for (const Run& run : runs(*matrix, along)) {
        keep_run(slice, run, half, loaded.take_front(count));
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
    for (int64_t i = 0; i < run_; ++i) {
      builder_.create<memref::StoreOp>(location_, elements[static_cast<size_t>(i)], slice,
                                       ValueRange{add(k, index(i)), run.at});
    }
  }

  // A thread's elements of a row of a slice, a run at a time.
  Values read_row(const Memory& slice, Value k, Value side) {
    Values elements;
    for (int64_t run = 0; run < square_ / kRun; ++run) {
      const Value address = address_of(builder_, location_, slice, ValueRange{k, place(side, run * kRun)});
      llvm::append_range(elements, load_elements(builder_, location_, slice, address, kRun));
    }
    return elements;
  }

  Values multiply(ValueRange so_far, Value half) {
    Values sums(so_far);
    const Memory a = open_memory(builder_, location_, a_slice_), b = open_memory(builder_, location_, b_slice_);
    const int64_t own = depth_ / groups_;
    const Value first = add(half, times(group_, own));
    for (int64_t i = 0; i < own; ++i) {
      const Value k = add(first, index(i));
      const Values as = read_row(a, k, row_), bs = read_row(b, k, column_);
      add_products(sums, as, bs);
    }
    return sums;
  }

  void add_products(Values& sums, const Values& as, const Values& bs) {
    for (int64_t i = 0; i < square_; ++i) {
      for (int64_t j = 0; j < square_; ++j) {
        Value& total = sums[static_cast<size_t>(i * square_ + j)];
        total = sum(total, element_product(as[static_cast<size_t>(i)], bs[static_cast<size_t>(j)]));
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
  unsigned slices_ = 0;  // How many were made.
  int64_t square_, tile_, depth_, padding_, groups_ = 1, side_ = kSide;
  int64_t run_;  // Elements that a thread brings of a slice at once.
  Matrix a_, b_;
  std::optional<SumWriter> writer_;
  Value a_slice_, b_slice_, group_, in_group_, row_, column_, height_, width_, steps_;
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

}  // namespace

bool has_sums_type(mlir::Type type) {
  const mlir::Type element = mlir::getElementTypeOrSelf(type);
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8;
}

bool takes_product(linalg::LinalgOp op, const Block& block) {
  // Tiles are for what is worth a kernel of its own.
  if (op->getParentOfType<mlir::func::FuncOp>()->hasAttr(kUndivided)) return false;
  return has_sums_type(op.getDpsInits()[0].getType()) && block.threads() == kSide * kSide && product_form(op);
}

mlir::Operation* lower_product(mlir::IRRewriter& rewriter, linalg::LinalgOp op, Block& block, bool from_zero,
                               mlir::OpOperand* sums_of_last) {
  if (!takes_product(op, block)) return nullptr;
  const OpBuilder::InsertionGuard guard(rewriter);
  const Features& features = block.features();
  const ProductForm form = *product_form(op);
  if (features.write_product) part_rows(rewriter, op);
  if (features.makes_turns) {
    Product product = open_product(rewriter, op, form, /*leaves_turns=*/true);
    if (sums_of_last) add_last(product, op, *sums_of_last);
    if (features.write_product(rewriter, op.getLoc(), product, block, from_zero)) return op;
  }
  Product product = open_product(rewriter, op, form);
  if (sums_of_last) add_last(product, op, *sums_of_last);
  if (!features.write_product || !features.write_product(rewriter, op.getLoc(), product, block, from_zero)) {
    SquareTileWriter(rewriter, op.getLoc(), product, block, from_zero).write();
  }
  return op;
}

}  // namespace baton::compiler_lite::codegen::gpu
