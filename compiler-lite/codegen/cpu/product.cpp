// A tile of C stays in registers while k runs: `rows_` x `columns_` accumulators, one broadcast element of A against a
// row of vectors of B per step. B is packed first: a panel of kDepth x columns_ elements, contiguous, so that the inner
// loop reads it in order from the first-level cache however far apart the rows of B are (at 1024 columns every row of B
// would fall on the same cache sets). A is read in place.
//
//   for k0 in steps of kDepth                      the panel of B fits the first-level cache
//     for n0 in steps of columns_
//       panel = B[k0.., n0..], in the type of C, zeros beyond the edge
//       for all turns of further rows              as a convolution has them: another A and C, the same panel
//         for m0 in steps of rows_                 then rows_/2, ... 1 for the rest
//           C[m0.., n0..] += A[m0.., k0..] * panel   masked at the right edge
//
// Products of bytes that are summed in i32 take two steps at once on x86, where vpmaddwd multiplies pairs of i16 and adds the two
// products: each i32 of the panel holds the numbers of two rows of B, and each broadcast one those of two columns of A.
#include "compiler-lite/codegen/cpu/product.hpp"

#include "compiler-lite/codegen/cpu/few_rows.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace baton::compiler_lite::codegen::cpu {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
namespace vector = mlir::vector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

constexpr int64_t kDepth = 256;
constexpr int64_t kColumnVectors = 2;
// Products of fewer multiplications aren't worth a panel.
constexpr int64_t kSmall = 4096;

mlir::VectorType vector_of(int64_t count, mlir::Type type) { return mlir::VectorType::get({count}, type); }

// Two bytes that lie side by side, in all lanes of an i32, each as a half: two instructions.
Value splat_pair(OpBuilder& builder, Location location, Value memory, mlir::ValueRange at, int64_t lanes,
                 bool is_unsigned) {
  const mlir::Type byte = builder.getI8Type(), half = builder.getI16Type();
  const auto cast = [&](mlir::VectorType type, Value value) -> Value {
    return builder.create<vector::BitCastOp>(location, type, value);
  };
  const Value bytes = builder.create<vector::LoadOp>(location, vector_of(2, byte), memory, at);
  const Value both = builder.create<vector::ExtractOp>(location, cast(vector_of(1, half), bytes), int64_t{0});
  const Value splat = builder.create<vector::BroadcastOp>(location, vector_of(lanes, half), both);
  const Value halves = convert_element(builder, location, cast(vector_of(2 * lanes, byte), splat),
                                       vector_of(2 * lanes, half), is_unsigned);
  return cast(vector_of(lanes, builder.getI32Type()), halves);
}

// For each lane, an i32, the sum of the products of its two halves.
Value multiply_pairs(OpBuilder& builder, Location location, Value a, Value b, int64_t lanes) {
  const llvm::StringRef name = lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                               : lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                            : "llvm.x86.sse2.pmadd.wd";
  llvm::SmallVector<Value> operands;
  for (const Value each : {a, b}) {
    operands.push_back(builder.create<vector::BitCastOp>(location, vector_of(2 * lanes, builder.getI16Type()), each));
  }
  mlir::Operation* call = builder.create<mlir::LLVM::CallIntrinsicOp>(
      location, a.getType(), builder.getStringAttr(name), mlir::ValueRange(operands));
  return call->getResult(0);
}

// Its methods are the loops of the picture above, from the outermost to what a step does, over one tile and one panel.
class ProductWriter {
 public:
  ProductWriter(OpBuilder& builder, Location location, const Product& product, const BodyOptions& options)
      : builder_(builder), location_(location), product_(product) {
    element_ = type_of(product.c).getElementType();
    lanes_ = std::max<int64_t>(1, options.vector_bytes * 8 / element_.getIntOrFloatBitWidth());
    columns_ = lanes_ * kColumnVectors;
    most_rows_ = options.vector_registers >= 32 ? 8 : 4;
    vector_ = mlir::VectorType::get({lanes_}, element_);
    const auto is_byte = [](Value memory) { return type_of(memory).getElementType().isInteger(8); };
    in_pairs_ = options.has_pair_sums && element_.isInteger(32) && is_byte(product.a) && is_byte(product.b);
    depth_ = in_pairs_ ? 2 * kDepth : kDepth;
  }

  void write() {
    const Value zero = index(0);
    const Value depth = size_of(product_.a, 1);
    const Value width = size_of(product_.c, 1);
    panel_ = builder_.create<memref::AllocOp>(location_, mlir::MemRefType::get({kDepth, columns_}, element_),
                                              builder_.getI64IntegerAttr(64));
    loop(zero, depth, depth_, [&](Value k0) {
      const Value k_count = at_most(depth_, depth, k0);
      const int64_t known = type_of(product_.c).getDimSize(1);
      mlir::ShapedType::isDynamic(known) ? write_columns(k0, k_count, width) : write_known_columns(k0, k_count, known);
    });
  }

 private:
  void write_columns(Value k0, Value k_count, Value width) {
    choose_tile(kColumnVectors);
    loop(index(0), width, columns_, [&](Value n0) {
      const Value n_count = at_most(columns_, width, n0);
      const Value full = builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, n_count, index(columns_));
      auto choice = builder_.create<scf::IfOp>(location_, full, /*withElseRegion=*/true);
      inside(choice.getThenRegion(), [&] { write_column(k0, k_count, n0, Value()); });
      inside(choice.getElseRegion(), [&] { write_column(k0, k_count, n0, n_count); });
    });
  }

  // Whole tiles, and one that has no more vectors than the rest.
  void write_known_columns(Value k0, Value k_count, int64_t width) {
    const int64_t rest = width % columns_;
    choose_tile(kColumnVectors);
    if (width >= columns_) {
      loop(index(0), index(width - rest), columns_, [&](Value n0) { write_column(k0, k_count, n0, Value()); });
    }
    if (rest == 0) return;
    choose_tile((rest + lanes_ - 1) / lanes_);
    write_column(k0, k_count, index(width - rest), rest % lanes_ == 0 ? Value() : index(rest));
  }

  // One of fewer vectors has more rows: each wants sums that don't wait for each other.
  void choose_tile(int64_t vectors) {
    vectors_ = vectors;
    rows_ =
        rows_of_tile(vectors == kColumnVectors ? most_rows_ : most_rows_ * 3 / 2, type_of(product_.c).getDimSize(0));
  }

  // Rather a little less than `most` than a rest, whose tiles keep the processor waiting.
  static int64_t rows_of_tile(int64_t most, int64_t height) {
    if (mlir::ShapedType::isDynamic(height)) return most;
    for (int64_t rows = most; 3 * rows > 2 * most; --rows) {
      if (height % rows == 0) return rows;
    }
    return most;
  }

  static mlir::MemRefType type_of(Value memory) { return llvm::cast<mlir::MemRefType>(memory.getType()); }

  Value index(int64_t value) { return builder_.create<arith::ConstantIndexOp>(location_, value); }
  Value add(Value a, Value b) { return builder_.create<arith::AddIOp>(location_, a, b); }
  Value size_of(Value memory, int64_t dimension) {
    return builder_.createOrFold<memref::DimOp>(location_, memory, dimension);
  }
  // min(limit, end - begin)
  Value at_most(int64_t limit, Value end, Value begin) {
    const Value left = builder_.create<arith::SubIOp>(location_, end, begin);
    return builder_.create<arith::MinUIOp>(location_, index(limit), left);
  }

  template <typename Body>
  void inside(mlir::Region& region, Body body) {
    const OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&region.front());
    body();
  }
  template <typename Body>
  void loop(Value begin, Value end, int64_t step, Body body) {
    auto loop = builder_.create<scf::ForOp>(location_, begin, end, index(step));
    const OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  Value convert(Value value, mlir::Type type) {
    return convert_element(builder_, location_, value, type, product_.is_unsigned);
  }

  // `n_count` is null for a full column of tiles.
  void write_column(Value k0, Value k_count, Value n0, Value n_count) {
    n_count ? pack_edge(k0, k_count, n0, n_count) : pack(k0, k_count, n0);
    write_rows({k0, k_count, n0, n_count}, product_.row_turns, index(0), index(0));
  }

  struct Column {
    Value k0, k_count, n0, n_count;
  };
  // How far A and C have moved.
  void write_rows(const Column& at, llvm::ArrayRef<Product::RowTurn> turns, Value a_distance, Value c_distance) {
    if (turns.empty()) {
      a_ = moved(product_.a, a_distance);
      c_ = moved(product_.c, c_distance);
      return write_tiles(at.k0, at.k_count, at.n0, at.n_count);
    }
    const Product::RowTurn& turn = turns.front();
    loop(index(0), turn.count, 1, [&](Value i) {
      const auto further = [&](Value distance, Value stride) {
        return add(distance, builder_.create<arith::MulIOp>(location_, i, stride));
      };
      write_rows(at, turns.drop_front(), further(a_distance, turn.a_stride), further(c_distance, turn.c_stride));
    });
  }

  Value moved(Value view, Value distance) {
    if (product_.row_turns.empty()) return view;
    const mlir::MemRefType type = type_of(view);
    llvm::SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (mlir::failed(mlir::getStridesAndOffset(type, strides, offset))) return view;
    auto layout = builder_.create<memref::ExtractStridedMetadataOp>(location_, view);
    const Value begin = mlir::getValueOrCreateConstantIndexOp(builder_, location_, layout.getConstifiedMixedOffset());
    const auto strided = mlir::StridedLayoutAttr::get(type.getContext(), mlir::ShapedType::kDynamic, strides);
    return builder_.create<memref::ReinterpretCastOp>(
        location_, mlir::MemRefType::get(type.getShape(), type.getElementType(), strided, type.getMemorySpace()), view,
        add(begin, distance), layout.getConstifiedMixedSizes(), layout.getConstifiedMixedStrides());
  }

  void write_tiles(Value k0, Value k_count, Value n0, Value n_count) {
    const Value height = size_of(c_, 0);
    // Whole tiles, then what is left: less than rows_, so each smaller power of two at most once.
    const Value whole = builder_.create<arith::SubIOp>(
        location_, height, builder_.create<arith::RemUIOp>(location_, height, index(rows_)));
    loop(index(0), whole, rows_, [&](Value m0) { write_tile(m0, rows_, k0, k_count, n0, n_count); });
    Value done = whole;
    for (int64_t rows = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(rows_ - 1))); rows > 0; rows /= 2) {
      const Value left = builder_.create<arith::SubIOp>(location_, height, done);
      const Value enough = builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::uge, left, index(rows));
      auto rest = builder_.create<scf::IfOp>(location_, enough);
      inside(rest.getThenRegion(), [&] { write_tile(done, rows, k0, k_count, n0, n_count); });
      done = builder_.create<arith::SelectOp>(location_, enough, add(done, index(rows)), done);
    }
  }

  void pack(Value k0, Value k_count, Value n0) {
    if (!has_contiguous_rows(product_.b)) return pack_edge(k0, k_count, n0, index(vectors_ * lanes_));
    const auto source = mlir::VectorType::get({lanes_}, type_of(product_.b).getElementType());
    for_panel_rows(k_count, [&](Value row, Value k, bool is_pair) {
      for (int64_t v = 0; v < vectors_; ++v) {
        const Value column = index(v * lanes_);
        const auto read = [&](Value step) -> Value {
          const Value values = builder_.create<vector::LoadOp>(location_, source, product_.b,
                                                               mlir::ValueRange{add(k0, step), add(n0, column)});
          return convert(values, vector_);
        };
        const Value values = read_step(k, is_pair, read);
        builder_.create<vector::StoreOp>(location_, values, panel_, mlir::ValueRange{row, column});
      }
    });
  }

  // The rows of the panel and the steps that they belong to: two steps for each where it is of pairs, but for a last one.
  template <typename Body>
  void for_panel_rows(Value k_count, Body body) {
    if (!in_pairs_) {
      loop(index(0), k_count, 1, [&](Value k) { body(k, k, false); });
      return;
    }
    const Value pairs = builder_.create<arith::ShRUIOp>(location_, k_count, index(1));
    loop(index(0), pairs, 1, [&](Value row) { body(row, add(row, row), true); });
    if (has_only_pairs()) return;
    const Value odd = builder_.create<arith::AndIOp>(location_, k_count, index(1));
    loop(index(0), odd, 1, [&](Value) { body(pairs, add(pairs, pairs), false); });
  }
  bool has_only_pairs() const {
    const int64_t steps = type_of(product_.a).getDimSize(1);
    return !mlir::ShapedType::isDynamic(steps) && steps % 2 == 0;
  }

  // What `read` gives for step `k`; of pairs two halves, the second of which is 0 behind the last step.
  template <typename Read>
  Value read_step(Value k, bool is_pair, Read read) {
    const Value first = read(k);
    if (!in_pairs_) return first;
    const auto constant = [&](int64_t number) -> Value {
      mlir::TypedAttr value = builder_.getI32IntegerAttr(static_cast<int32_t>(number));
      if (first.getType() == vector_) value = mlir::DenseElementsAttr::get(vector_, value);
      return builder_.create<arith::ConstantOp>(location_, value);
    };
    const Value low = builder_.create<arith::AndIOp>(location_, first, constant(0xFFFF));
    if (!is_pair) return low;
    const Value high = builder_.create<arith::ShLIOp>(location_, read(add(k, index(1))), constant(16));
    return builder_.create<arith::OrIOp>(location_, low, high);
  }

  void pack_edge(Value k0, Value k_count, Value n0, Value n_count) {
    const Value zero = builder_.create<arith::ConstantOp>(location_, element_, builder_.getZeroAttr(element_));
    for_panel_rows(k_count, [&](Value row, Value k, bool is_pair) {
      loop(index(0), n_count, 1, [&](Value n) {
        const auto read = [&](Value step) -> Value {
          const Value value =
              builder_.create<memref::LoadOp>(location_, product_.b, mlir::ValueRange{add(k0, step), add(n0, n)});
          return convert(value, element_);
        };
        const Value value = read_step(k, is_pair, read);
        builder_.create<memref::StoreOp>(location_, value, panel_, mlir::ValueRange{row, n});
      });
      loop(n_count, index(vectors_ * lanes_), 1, [&](Value n) {
        builder_.create<memref::StoreOp>(location_, zero, panel_, mlir::ValueRange{row, n});
      });
    });
  }

  // Which of the v-th vector's lanes are inside of C; null for all.
  Value mask_of(Value n_count, int64_t v) {
    if (!n_count) return Value();
    const Value left = builder_.create<arith::SubIOp>(location_, n_count, index(v * lanes_));
    return builder_.create<vector::CreateMaskOp>(location_, mlir::VectorType::get({lanes_}, builder_.getI1Type()),
                                                 left);
  }

  void write_tile(Value m0, int64_t rows, Value k0, Value k_count, Value n0, Value n_count) {
    llvm::SmallVector<Value> masks, row_at, column_at, sums;
    for (int64_t v = 0; v < vectors_; ++v) {
      masks.push_back(mask_of(n_count, v));
      column_at.push_back(add(n0, index(v * lanes_)));
    }
    const Value zeros = builder_.create<arith::ConstantOp>(location_, vector_, builder_.getZeroAttr(vector_));
    for (int64_t r = 0; r < rows; ++r) {
      row_at.push_back(add(m0, index(r)));
      for (size_t v = 0; v < column_at.size(); ++v) {
        const llvm::SmallVector<Value> at{row_at.back(), column_at[v]};
        sums.push_back(
            masks[v] ? builder_.create<vector::MaskedLoadOp>(location_, vector_, c_, at, masks[v], zeros).getResult()
                     : builder_.create<vector::LoadOp>(location_, vector_, c_, at).getResult());
      }
    }
    sums = accumulate(row_at, k0, k_count, sums);
    for (size_t i = 0; i < sums.size(); ++i) {
      const size_t v = i % column_at.size();
      const llvm::SmallVector<Value> at{row_at[i / column_at.size()], column_at[v]};
      if (masks[v]) {
        builder_.create<vector::MaskedStoreOp>(location_, c_, at, masks[v], sums[i]);
      } else {
        builder_.create<vector::StoreOp>(location_, sums[i], c_, at);
      }
    }
  }

  llvm::SmallVector<Value> accumulate(llvm::ArrayRef<Value> row_at, Value k0, Value k_count,
                                      llvm::ArrayRef<Value> sums) {
    if (!in_pairs_) return accumulate(row_at, k0, index(0), k_count, /*is_pair=*/false, sums);
    const Value pairs = builder_.create<arith::ShRUIOp>(location_, k_count, index(1));
    llvm::SmallVector<Value> whole = accumulate(row_at, k0, index(0), pairs, /*is_pair=*/true, sums);
    if (has_only_pairs()) return whole;
    const Value odd = builder_.create<arith::AndIOp>(location_, k_count, index(1));
    return accumulate(row_at, k0, pairs, add(pairs, odd), /*is_pair=*/false, whole);
  }

  // Along these rows of the panel.
  llvm::SmallVector<Value> accumulate(llvm::ArrayRef<Value> row_at, Value k0, Value begin, Value end, bool is_pair,
                                      llvm::ArrayRef<Value> sums) {
    auto loop = builder_.create<scf::ForOp>(location_, begin, end, index(1), sums);
    const OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(loop.getBody());
    const Value panel_row = loop.getInductionVar();
    const Value k = in_pairs_ ? add(panel_row, panel_row) : panel_row;
    llvm::SmallVector<Value> columns, results;
    for (int64_t v = 0; v < vectors_; ++v) {
      columns.push_back(
          builder_.create<vector::LoadOp>(location_, vector_, panel_, mlir::ValueRange{panel_row, index(v * lanes_)}));
    }
    unsigned next = 0;
    const bool reads_pairs = is_pair && has_contiguous_rows(product_.a);
    for (const Value row : row_at) {
      if (reads_pairs) {
        const Value splat = splat_pair(builder_, location_, a_, {row, add(k0, k)}, lanes_, product_.is_unsigned);
        for (const Value column : columns)
          results.push_back(multiply_add(splat, column, loop.getRegionIterArg(next++)));
        continue;
      }
      const auto read = [&](Value step) -> Value {
        const Value value = builder_.create<memref::LoadOp>(location_, a_, mlir::ValueRange{row, add(k0, step)});
        return convert(value, element_);
      };
      const Value splat = builder_.create<vector::BroadcastOp>(location_, vector_, read_step(k, is_pair, read));
      for (const Value column : columns) results.push_back(multiply_add(splat, column, loop.getRegionIterArg(next++)));
    }
    builder_.create<scf::YieldOp>(location_, results);
    return llvm::SmallVector<Value>(loop.getResults());
  }

  // Contracted to one instruction where the target has it.
  Value multiply_add(Value a, Value b, Value sum) {
    if (llvm::isa<mlir::FloatType>(element_)) {
      const auto contract = arith::FastMathFlags::contract;
      const Value product = builder_.create<arith::MulFOp>(location_, a, b, contract);
      return builder_.create<arith::AddFOp>(location_, sum, product, contract);
    }
    return add(sum, in_pairs_ ? multiply_pairs(builder_, location_, a, b, lanes_)
                              : builder_.create<arith::MulIOp>(location_, a, b));
  }

  OpBuilder& builder_;
  Location location_;
  const Product& product_;
  mlir::Type element_;
  int64_t lanes_, columns_, most_rows_;
  bool in_pairs_;
  int64_t depth_;                   // Steps that a panel holds.
  int64_t rows_ = 0, vectors_ = 0;  // Of the tiles that are being written.
  Value a_, c_;                     // Of the further rows that are being written.
  mlir::VectorType vector_;
  Value panel_;
};

bool is_small(linalg::LinalgOp op) {
  int64_t count = 1;
  for (const int64_t size : op.getStaticLoopRanges()) {
    if (mlir::ShapedType::isDynamic(size)) return false;
    count *= size;
  }
  return count < kSmall;
}

bool is_supported(linalg::LinalgOp op, const ProductForm& form) {
  const mlir::Type element = mlir::getElementTypeOrSelf(op.getDpsInits()[0].getType());
  // Sums of f16 and bf16 must be f32 (widen_sums.hpp); products with other sums become loops.
  const bool good = element.isF32() || element.isF64() || (element.isInteger() && element.getIntOrFloatBitWidth() >= 8);
  return good && has_contiguous_columns(op, form) && !is_small(op);
}

// What is a product known here is gone afterwards.
void lower_product(mlir::IRRewriter& rewriter, linalg::LinalgOp op, const BodyOptions& options) {
  if (lower_few_rows(rewriter, op, options)) return;
  const std::optional<ProductForm> form = product_form(op);
  if (!form || !is_supported(op, *form)) return;
  const OpBuilder::InsertionGuard guard(rewriter);
  const Product product = open_product_of_rows(rewriter, op, *form);
  ProductWriter(rewriter, op.getLoc(), product, options).write();
  rewriter.eraseOp(op);
}

}  // namespace

mlir::LogicalResult lower_products(mlir::ModuleOp kernels, const BodyOptions& options) {
  mlir::IRRewriter rewriter(kernels.getContext());
  llvm::SmallVector<linalg::LinalgOp> operations;
  kernels.walk([&](linalg::LinalgOp op) { operations.push_back(op); });
  for (linalg::LinalgOp op : operations) lower_product(rewriter, op, options);
  return mlir::success();
}

}  // namespace baton::compiler_lite::codegen::cpu
