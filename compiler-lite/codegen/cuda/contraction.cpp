// A block computes a tile of C, kRows x kColumns; its threads stand in a square of 16 x 16, each with a square of sums
// in registers. A slice of A and one of B lie in shared memory while they are multiplied:
//
//   for m0, n0 in tiles of C
//     for k0 in steps of depth
//       slice of A (depth x rows, turned) and of B (depth x columns) into shared memory, zeros beyond the edge
//       the next ones into registers
//       for k in the slice: sums += column of A * row of B
//     C += sums
#include "compiler-lite/codegen/cuda/contraction.hpp"

#include "compiler-lite/codegen/cuda/half_product.hpp"
#include "compiler-lite/codegen/cuda/points.hpp"
#include "compiler-lite/codegen/llvm_values.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen::cuda {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace LLVM = mlir::LLVM;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

constexpr int64_t kSide = 16;  // Threads along each side.
// Rows of a slice end apart from where banks of shared memory repeat.
constexpr int64_t kPadding = 4;
// A thread's elements of a row come in runs that one access of 16 bytes takes.
constexpr int64_t kRun = 4;

class TileWriter {
 public:
  TileWriter(OpBuilder& builder, Location location, const Product& product, Block& block, bool from_zero)
      : builder_(builder), location_(location), product_(product), block_(block), from_zero_(from_zero) {
    const auto type = type_of(product.c);
    element_ = type.getElementType();
    // Sums of small floats are kept in f32.
    if (llvm::isa<mlir::FloatType>(element_) && element_.getIntOrFloatBitWidth() < 32) element_ = builder.getF32Type();
    const bool large = !type.isDynamicDim(0) && !type.isDynamicDim(1) && type.getDimSize(0) >= 128 &&
                       type.getDimSize(1) >= 128 && element_.getIntOrFloatBitWidth() <= 32;
    square_ = large ? 8 : 4;
    tile_ = square_ * kSide;
    depth_ = large ? 8 : 16;
  }

  void write() {
    a_slice_ = slice();
    b_slice_ = slice();
    const Value thread = block_.thread(), side = index(kSide);
    row_ = builder_.create<arith::DivUIOp>(location_, thread, side);
    column_ = builder_.create<arith::RemUIOp>(location_, thread, side);
    height_ = size_of(product_.c, 0);
    width_ = size_of(product_.c, 1);
    steps_ = size_of(product_.a, 1);
    loop(index(0), height_, tile_, {}, [&](Value m0, ValueRange) {
      loop(index(0), width_, tile_, {}, [&](Value n0, ValueRange) {
        write_tile(m0, n0);
        return Values();
      });
      return Values();
    });
  }

 private:
  static mlir::MemRefType type_of(Value memory) { return llvm::cast<mlir::MemRefType>(memory.getType()); }
  Value index(int64_t value) { return builder_.create<arith::ConstantIndexOp>(location_, value); }
  Value add(Value a, Value b) { return builder_.createOrFold<arith::AddIOp>(location_, a, b); }
  Value size_of(Value memory, int64_t dimension) {
    return builder_.createOrFold<memref::DimOp>(location_, memory, dimension);
  }
  Value is_below(Value a, Value b) {
    return builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ult, a, b);
  }
  Value slice() {
    const auto type = mlir::MemRefType::get({depth_, tile_ + kPadding}, element_);
    return builder_.create<memref::AllocOp>(location_, type, builder_.getI64IntegerAttr(16));
  }

  template <typename Body>
  Values loop(Value begin, Value end, int64_t step, ValueRange values, Body body) {
    auto loop = builder_.create<scf::ForOp>(location_, begin, end, index(step), values);
    const OpBuilder::InsertionGuard guard(builder_);
    if (values.empty()) {
      builder_.setInsertionPointToStart(loop.getBody());
      body(loop.getInductionVar(), loop.getRegionIterArgs());
    } else {
      builder_.setInsertionPointToEnd(loop.getBody());
      const Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
      builder_.create<scf::YieldOp>(location_, next);
    }
    return Values(loop.getResults());
  }

  template <typename Body>
  void inside(mlir::Region& region, Body body) {
    const OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&region.front());
    body();
  }

  // Where the i-th of a thread's rows or columns lies in the tile, for the thread's place along that side.
  Value place(Value side, int64_t i) {
    const Value run = builder_.create<arith::MulIOp>(location_, side, index(kRun));
    return add(run, index(i / kRun * kRun * kSide + i % kRun));
  }

  void write_tile(Value m0, Value n0) {
    const Value zero = builder_.create<arith::ConstantOp>(location_, element_, builder_.getZeroAttr(element_));
    const size_t sum_count = static_cast<size_t>(square_ * square_);
    Values start(sum_count, zero);
    llvm::append_range(start, load_slices(m0, n0, index(0)));
    const Values last = loop(index(0), steps_, depth_, start, [&](Value k0, ValueRange so_far) {
      keep_slices(so_far.drop_front(sum_count));
      Block::barrier(builder_, location_);
      // On their way while this slice is multiplied.
      const Values loaded = load_slices(m0, n0, add(k0, index(depth_)));
      Values next = multiply(so_far.take_front(sum_count));
      Block::barrier(builder_, location_);
      llvm::append_range(next, loaded);
      return next;
    });
    const llvm::ArrayRef<Value> sums = llvm::ArrayRef<Value>(last).take_front(sum_count);
    for (int64_t i = 0; i < square_; ++i) {
      const Value row = add(m0, place(row_, i));
      for (int64_t j = 0; j < square_; ++j) {
        const Value column = add(n0, place(column_, j));
        const Value is_inside =
            builder_.create<arith::AndIOp>(location_, is_below(row, height_), is_below(column, width_));
        auto branch = builder_.create<scf::IfOp>(location_, is_inside);
        inside(branch.getThenRegion(), [&] { store(row, column, sums[static_cast<size_t>(i * square_ + j)]); });
      }
    }
  }

  void store(Value row, Value column, Value total) {
    const mlir::Type stored = type_of(product_.c).getElementType();
    if (!from_zero_) {
      const Value old = builder_.create<memref::LoadOp>(location_, product_.c, ValueRange{row, column});
      total = sum(convert_element(builder_, location_, old, element_, product_.is_unsigned), total);
    }
    total = convert_element(builder_, location_, total, stored, product_.is_unsigned);
    builder_.create<memref::StoreOp>(location_, total, product_.c, ValueRange{row, column});
  }

  // This thread's elements of both slices.
  Values load_slices(Value m0, Value n0, Value k0) {
    const auto fits = [&](Value begin, int64_t count, Value end) {
      return builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ule, add(begin, index(count)), end);
    };
    Value whole = builder_.create<arith::AndIOp>(location_, fits(m0, tile_, height_), fits(n0, tile_, width_));
    whole = builder_.create<arith::AndIOp>(location_, whole, fits(k0, depth_, steps_));
    const llvm::SmallVector<mlir::Type> types(static_cast<size_t>(2 * tile_ * depth_ / block_.threads()), element_);
    auto choice = builder_.create<scf::IfOp>(location_, types, whole, /*addThenBlock=*/true, /*addElseBlock=*/true);
    for (const bool is_whole : {true, false}) {
      inside(is_whole ? choice.getThenRegion() : choice.getElseRegion(), [&] {
        Values loaded;
        for_each_element(product_.a, 0,
                         [&](Value at, Value k) { loaded.push_back(load_a(add(m0, at), add(k0, k), !is_whole)); });
        for_each_element(product_.b, 1,
                         [&](Value at, Value k) { loaded.push_back(load_b(add(n0, at), add(k0, k), !is_whole)); });
        builder_.create<scf::YieldOp>(location_, loaded);
      });
    }
    return Values(choice.getResults());
  }

  void keep_slices(ValueRange loaded) {
    size_t next = 0;
    const auto keep = [&](Value slice) {
      return [this, slice, loaded, &next](Value at, Value k) {
        builder_.create<memref::StoreOp>(location_, loaded[next++], slice, ValueRange{k, at});
      };
    };
    for_each_element(product_.a, 0, keep(a_slice_));
    for_each_element(product_.b, 1, keep(b_slice_));
  }

  // The places in a slice of `matrix` that this thread brings: along the tile, and along k.
  template <typename Visit>
  void for_each_element(Value matrix, unsigned along_dimension, Visit visit) {
    // Neighbouring threads load neighbours in memory.
    const bool along_is_fast = has_contiguous_rows(matrix) == (along_dimension == 1);
    const Value fast_size = index(along_is_fast ? tile_ : depth_);
    for (int64_t done = 0; done < tile_ * depth_; done += block_.threads()) {
      const Value number = add(block_.thread(), index(done));
      const Value fast = builder_.create<arith::RemUIOp>(location_, number, fast_size);
      const Value slow = builder_.create<arith::DivUIOp>(location_, number, fast_size);
      visit(along_is_fast ? fast : slow, along_is_fast ? slow : fast);
    }
  }

  Value load_a(Value row, Value k, bool checked) { return load(product_.a, row, height_, k, steps_, checked); }
  Value load_b(Value column, Value k, bool checked) { return load(product_.b, k, steps_, column, width_, checked); }

  // An element in the type of C; zero beyond the edge.
  Value load(Value matrix, Value row, Value height, Value column, Value width, bool checked) {
    const auto read = [&](OpBuilder& at) -> Value {
      const Value loaded = at.create<memref::LoadOp>(location_, matrix, ValueRange{row, column});
      return convert_element(at, location_, loaded, element_, product_.is_unsigned);
    };
    if (!checked) return read(builder_);
    const Value is_inside = builder_.create<arith::AndIOp>(location_, is_below(row, height), is_below(column, width));
    auto choice = builder_.create<scf::IfOp>(
        location_, is_inside, [&](OpBuilder& then, Location) { then.create<scf::YieldOp>(location_, read(then)); },
        [&](OpBuilder& otherwise, Location) {
          const Value zero = otherwise.create<arith::ConstantOp>(location_, element_, builder_.getZeroAttr(element_));
          otherwise.create<scf::YieldOp>(location_, zero);
        });
    return choice.getResult(0);
  }

  // A thread's elements of a row of a slice, a run at a time.
  Values read_row(Value slice, int64_t k, Value side) {
    const mlir::LLVMTypeConverter types(builder_.getContext());
    mlir::MemRefDescriptor memory(cast(builder_, location_, slice, types.convertType(slice.getType())));
    const Value base = memory.alignedPtr(builder_, location_);
    const unsigned alignment = std::min<unsigned>(16, kRun * element_.getIntOrFloatBitWidth() / 8);
    Values elements;
    for (int64_t run = 0; run < square_ / kRun; ++run) {
      const Value at = add(index(k * (tile_ + kPadding)), place(side, run * kRun));
      const Value address = builder_.create<LLVM::GEPOp>(
          location_, base.getType(), element_, base, ValueRange{cast(builder_, location_, at, builder_.getI64Type())});
      const Value vector =
          builder_.create<LLVM::LoadOp>(location_, mlir::VectorType::get({kRun}, element_), address, alignment);
      for (int64_t i = 0; i < kRun; ++i) {
        elements.push_back(
            builder_.create<LLVM::ExtractElementOp>(location_, vector, make_i32(builder_, location_, i)));
      }
    }
    return elements;
  }

  Values multiply(ValueRange so_far) {
    Values sums(so_far);
    for (int64_t k = 0; k < depth_; ++k) {
      const Values as = read_row(a_slice_, k, row_), bs = read_row(b_slice_, k, column_);
      for (int64_t i = 0; i < square_; ++i) {
        for (int64_t j = 0; j < square_; ++j) {
          Value& total = sums[static_cast<size_t>(i * square_ + j)];
          total = sum(total, times(as[static_cast<size_t>(i)], bs[static_cast<size_t>(j)]));
        }
      }
    }
    return sums;
  }

  // Contracted to one instruction.
  Value times(Value a, Value b) {
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

  OpBuilder& builder_;
  Location location_;
  const Product& product_;
  Block& block_;
  bool from_zero_;
  mlir::Type element_;
  int64_t square_, tile_, depth_;
  Value a_slice_, b_slice_, row_, column_, height_, width_, steps_;
};

bool is_supported(linalg::LinalgOp op) {
  const mlir::Type element = mlir::getElementTypeOrSelf(op.getDpsInits()[0].getType());
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8;
}

}  // namespace

bool takes_contraction(linalg::LinalgOp op, const Block& block) {
  return is_product(op) && is_supported(op) && block.threads() == kSide * kSide;
}

mlir::Operation* lower_contraction(mlir::IRRewriter& rewriter, linalg::LinalgOp& op, Block& block,
                                   const Features& features, bool from_zero) {
  op = name_product(rewriter, op);
  if (!takes_contraction(op, block)) return nullptr;
  const OpBuilder::InsertionGuard guard(rewriter);
  const Product product = open_product(rewriter, op);
  if (is_half_product(product, features)) {
    write_half_product(rewriter, op.getLoc(), product, block, features, from_zero);
  } else {
    TileWriter(rewriter, op.getLoc(), product, block, from_zero).write();
  }
  return op;
}

}  // namespace baton::compiler_lite::codegen::cuda
