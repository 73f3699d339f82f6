// The matrix is read once, in place, whatever its elements are: they become those of the sum in registers, for all rows at
// once.
//
//   columns lie in memory one after the other          k does
//     for k0 in steps of kSteps                          for n0 in steps of some columns
//       for n0 in steps of a line of memory                sums[rows][columns], a vector along k each
//         the line kSteps below is asked for               for k0 in steps of a vector
//         C[rows][n0..] += A[rows][k0..] * B[k0.., n0..]     sums += A[rows][k0..] * B[k0.., columns]
//                                                          each is added up, and the last steps behind it
//
// C's part of a tile stays in the first-level cache. A row's sums are made in one order, however many of these rows there
// are: a sequence has the same numbers alone and in a small batch.
#include "compiler-lite/codegen/cpu/few_rows.hpp"

#include "compiler-lite/codegen/product.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

// Rows of B, or columns along k, that are read side by side: as many streams as the processor follows.
constexpr int64_t kStepsAtOnce = 4, kColumnsMax = 4;
constexpr int64_t kLineBytes = 64;
// How far ahead short rows and columns are asked for, and up to which length they are short.
constexpr int64_t kAhead = 8, kShortBytes = 256;

mlir::MemRefType type_of(Value memory) { return llvm::cast<mlir::MemRefType>(memory.getType()); }

// Of the matrices: other rows, which lie elsewhere in memory, have loops around these. One of the two types knows them.
int64_t rows_of(const Product& product) {
  const int64_t rows = type_of(product.a).getDimSize(0);
  return mlir::ShapedType::isDynamic(rows) ? type_of(product.c).getDimSize(0) : rows;
}

// What both directions write with. Their many methods are the steps of one kernel, which share the product and its vectors.
class FewRows {
 public:
  FewRows(OpBuilder& builder, Location location, const Product& product, const BodyOptions& options)
      : builder_(builder), location_(location), product_(product), rows_(rows_of(product)) {
    element_ = type_of(product.c).getElementType();
    lanes_ = std::max<int64_t>(1, options.vector_bytes * 8 / element_.getIntOrFloatBitWidth());
    vector_ = mlir::VectorType::get({lanes_}, element_);
    sums_max_ = options.vector_registers >= 32 ? 24 : 12;
    for (int64_t r = 0; r < rows_; ++r) row_at_.push_back(index(r));
  }

 protected:
  Value index(int64_t value) { return builder_.create<arith::ConstantIndexOp>(location_, value); }
  Value add(Value a, Value b) { return builder_.createOrFold<arith::AddIOp>(location_, a, b); }
  Value size_of(Value memory, int64_t dimension) {
    return builder_.createOrFold<memref::DimOp>(location_, memory, dimension);
  }
  static bool is_number(Value a, Value b) {
    const std::optional<int64_t> one = mlir::getConstantIntValue(a), other = mlir::getConstantIntValue(b);
    return one && other && *one == *other;
  }
  // The last place behind `begin` that whole steps lead to.
  Value whole_steps(Value begin, Value end, int64_t step) {
    const Value left = builder_.createOrFold<arith::SubIOp>(location_, end, begin);
    const Value rest = builder_.createOrFold<arith::RemUIOp>(location_, left, index(step));
    return builder_.createOrFold<arith::SubIOp>(location_, end, rest);
  }
  template <typename Body>
  void loop(Value begin, Value end, int64_t step, Body body) {
    if (is_number(begin, end)) return;
    auto made = builder_.create<scf::ForOp>(location_, begin, end, index(step));
    const OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(made.getBody());
    body(made.getInductionVar());
  }
  // `body` gives the sums after a step of those before it.
  template <typename Body>
  SmallVector<Value> sum_loop(Value begin, Value end, int64_t step, ArrayRef<Value> sums, Body body) {
    if (is_number(begin, end)) return SmallVector<Value>(sums);
    auto made = builder_.create<scf::ForOp>(location_, begin, end, index(step), sums);
    const OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(made.getBody());
    const SmallVector<Value> next = body(made.getInductionVar(), made.getRegionIterArgs());
    builder_.create<scf::YieldOp>(location_, next);
    return SmallVector<Value>(made.getResults());
  }

  Value convert(Value value, mlir::Type type) {
    return convert_element(builder_, location_, value, type, product_.is_unsigned);
  }
  Value load(Value memory, Value row, Value column) {
    return builder_.create<memref::LoadOp>(location_, memory, ValueRange{row, column});
  }
  Value splat(Value element) {
    return builder_.create<vector::BroadcastOp>(location_, vector_, convert(element, element_));
  }
  Value zeros() { return builder_.create<arith::ConstantOp>(location_, vector_, builder_.getZeroAttr(vector_)); }
  Value vector_of(Value memory, Value row, Value column) {
    const auto type = mlir::VectorType::get({lanes_}, type_of(memory).getElementType());
    return convert(builder_.create<vector::LoadOp>(location_, type, memory, ValueRange{row, column}), vector_);
  }
  bool is_float() const { return llvm::isa<mlir::FloatType>(element_); }
  Value plus(Value a, Value b) {
    return is_float() ? builder_.create<arith::AddFOp>(location_, a, b).getResult()
                      : builder_.create<arith::AddIOp>(location_, a, b).getResult();
  }
  // Contracted to one instruction where the target has it.
  Value multiply_add(Value a, Value b, Value sum) {
    if (!is_float()) return plus(sum, builder_.create<arith::MulIOp>(location_, a, b));
    const auto contract = arith::FastMathFlags::contract;
    const Value product = builder_.create<arith::MulFOp>(location_, a, b, contract);
    return builder_.create<arith::AddFOp>(location_, sum, product, contract);
  }

  OpBuilder& builder_;
  Location location_;
  const Product& product_;
  const int64_t rows_;
  int64_t lanes_ = 1, sums_max_ = 1;
  mlir::Type element_;
  mlir::VectorType vector_;
  SmallVector<Value> row_at_;
};

// The columns of the matrix lie in memory one after the other.
class AlongColumns : FewRows {
 public:
  using FewRows::FewRows;

  void write() {
    const Value depth = size_of(product_.a, 1), width = size_of(product_.c, 1);
    const Value whole = whole_steps(index(0), width, lanes_);
    const std::optional<int64_t> columns = mlir::getConstantIntValue(whole);
    if (columns && *columns > 0 && *columns / lanes_ * rows_ <= sums_max_) {
      write_narrow(*columns / lanes_);
    } else {
      write_wide(depth, whole);
    }
    if (is_number(whole, width)) return;
    const Value left = builder_.create<arith::SubIOp>(location_, width, whole);
    const Value some = builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ne, left, index(0));
    auto edge = builder_.create<scf::IfOp>(location_, some);
    const OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&edge.getThenRegion().front());
    write_edge(whole, left);
  }

 private:
  void write_wide(Value depth, Value whole) {
    Value done = index(0);
    for (const int64_t steps : {kStepsAtOnce, int64_t{1}}) {
      const Value end = whole_steps(done, depth, steps);
      loop(done, end, steps, [&](Value k) { add_products(k, steps, depth, whole); });
      done = end;
    }
  }

  // All sums find room in registers. The rows of B are short: those ahead are asked for by name.
  void write_narrow(int64_t vectors) {
    SmallVector<Value> column_at, sums;
    for (int64_t v = 0; v < vectors; ++v) column_at.push_back(index(v * lanes_));
    for (const Value row : row_at_) {
      for (const Value column : column_at) {
        sums.push_back(builder_.create<vector::LoadOp>(location_, vector_, product_.c, ValueRange{row, column}));
      }
    }
    const Value depth = size_of(product_.a, 1);
    const Value last = builder_.createOrFold<arith::SubIOp>(location_, depth, index(1));
    sums = sum_loop(index(0), depth, 1, sums, [&](Value k, ValueRange before) {
      ask_for(builder_.create<arith::MinUIOp>(location_, add(k, index(kAhead)), last), index(0), vectors * lanes_);
      SmallVector<Value> matrix, after;
      for (const Value column : column_at) matrix.push_back(vector_of(product_.b, k, column));
      for (const Value row : row_at_) {
        const Value factor = splat(load(product_.a, row, k));
        for (const Value each : matrix) after.push_back(multiply_add(factor, each, before[after.size()]));
      }
      return after;
    });
    for (const auto& [number, sum] : llvm::enumerate(sums)) {
      const Value row = row_at_[number / column_at.size()], column = column_at[number % column_at.size()];
      builder_.create<vector::StoreOp>(location_, sum, product_.c, ValueRange{row, column});
    }
  }

  // Elements of a row of B, a line at a time.
  void ask_for(Value row, Value column, int64_t count) {
    const int64_t line = kLineBytes * 8 / type_of(product_.b).getElementType().getIntOrFloatBitWidth();
    for (int64_t i = 0; i < count; i += line) {
      builder_.create<memref::PrefetchOp>(location_, product_.b, ValueRange{row, add(column, index(i))},
                                          /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
    }
  }

  // Adds what `steps` rows of B from k on make, up to the column `whole`.
  void add_products(Value k, int64_t steps, Value depth, Value whole) {
    SmallVector<Value> step_at, ahead, factors;
    const Value last = builder_.createOrFold<arith::SubIOp>(location_, depth, index(1));
    for (int64_t i = 0; i < steps; ++i) {
      step_at.push_back(add(k, index(i)));
      ahead.push_back(builder_.create<arith::MinUIOp>(location_, add(k, index(steps + i)), last));
    }
    for (const Value row : row_at_) {
      for (const Value step : step_at) factors.push_back(splat(load(product_.a, row, step)));
    }
    const int64_t vector_bits = lanes_ * type_of(product_.b).getElementType().getIntOrFloatBitWidth();
    const int64_t vectors = std::max<int64_t>(1, kLineBytes * 8 / vector_bits);
    const Value lines = whole_steps(index(0), whole, vectors * lanes_);
    loop(index(0), lines, vectors * lanes_, [&](Value n0) {
      for (const Value row : ahead) ask_for(row, n0, 1);
      for (int64_t v = 0; v < vectors; ++v) add_vector(step_at, factors, add(n0, index(v * lanes_)));
    });
    if (vectors > 1) loop(lines, whole, lanes_, [&](Value n0) { add_vector(step_at, factors, n0); });
  }

  void add_vector(ArrayRef<Value> step_at, ArrayRef<Value> factors, Value column) {
    SmallVector<Value> matrix;
    for (const Value step : step_at) matrix.push_back(vector_of(product_.b, step, column));
    const Value* factor = factors.begin();
    for (const Value row : row_at_) {
      Value sum = builder_.create<vector::LoadOp>(location_, vector_, product_.c, ValueRange{row, column});
      for (const Value each : matrix) sum = multiply_add(*factor++, each, sum);
      builder_.create<vector::StoreOp>(location_, sum, product_.c, ValueRange{row, column});
    }
  }

  // The last columns, `left` of them, less than a vector.
  void write_edge(Value n0, Value left) {
    const auto lanes = mlir::VectorType::get({lanes_}, builder_.getI1Type());
    const Value mask = builder_.create<vector::CreateMaskOp>(location_, lanes, left);
    SmallVector<Value> sums;
    for (const Value row : row_at_) {
      const SmallVector<Value> at{row, n0};
      sums.push_back(builder_.create<vector::MaskedLoadOp>(location_, vector_, product_.c, at, mask, zeros()));
    }
    sums = sum_loop(index(0), size_of(product_.a, 1), 1, sums, [&](Value k, ValueRange before) {
      const Value each = gather(k, n0, left);
      SmallVector<Value> after;
      for (const Value row : row_at_) {
        after.push_back(multiply_add(splat(load(product_.a, row, k)), each, before[after.size()]));
      }
      return after;
    });
    for (const auto& [row, sum] : llvm::zip_equal(row_at_, sums)) {
      const SmallVector<Value> at{row, n0};
      builder_.create<vector::MaskedStoreOp>(location_, product_.c, at, mask, sum);
    }
  }

  // One by one: the last of the row in place of what is behind it.
  Value gather(Value k, Value column, Value left) {
    Value values = zeros();
    const Value last = builder_.create<arith::SubIOp>(location_, left, index(1));
    for (int64_t lane = 0; lane < lanes_; ++lane) {
      const Value there = builder_.create<arith::MinUIOp>(location_, index(lane), last);
      const Value each = convert(load(product_.b, k, add(column, there)), element_);
      values = builder_.create<vector::InsertOp>(location_, each, values, lane);
    }
    return values;
  }
};

// The steps of the sum lie in memory one after the other.
class AlongSteps : FewRows {
 public:
  using FewRows::FewRows;

  void write() {
    const int64_t columns = std::clamp<int64_t>(sums_max_ / rows_, 1, kColumnsMax);
    const Value width = size_of(product_.c, 1), whole = whole_steps(index(0), width, columns);
    loop(index(0), whole, columns, [&](Value n0) { write_columns(n0, columns); });
    if (columns > 1) loop(whole, width, 1, [&](Value n0) { write_columns(n0, 1); });
  }

 private:
  void write_columns(Value n0, int64_t columns) {
    const Value depth = size_of(product_.a, 1), whole = whole_steps(index(0), depth, lanes_);
    SmallVector<Value> column_at;
    for (int64_t c = 0; c < columns; ++c) column_at.push_back(add(n0, index(c)));
    SmallVector<Value> sums(static_cast<size_t>(rows_ * columns), zeros());
    ask_for_columns(column_at);
    // B's columns lie along k.
    const Value turned = turn(product_.b);
    sums = sum_loop(index(0), whole, lanes_, sums, [&](Value k, ValueRange before) {
      SmallVector<Value> matrix, after;
      for (const Value column : column_at) matrix.push_back(vector_of(turned, column, k));
      for (const Value row : row_at_) {
        const Value factors = vector_of(product_.a, row, k);
        for (const Value each : matrix) after.push_back(multiply_add(factors, each, before[after.size()]));
      }
      return after;
    });
    for (Value& sum : sums) sum = add_up(sum);
    sums = sum_loop(whole, depth, 1, sums, [&](Value k, ValueRange before) {
      SmallVector<Value> after;
      for (const Value row : row_at_) {
        const Value factor = convert(load(product_.a, row, k), element_);
        for (const Value column : column_at) {
          const Value each = convert(load(turned, column, k), element_);
          after.push_back(multiply_add(factor, each, before[after.size()]));
        }
      }
      return after;
    });
    for (size_t i = 0; i < sums.size(); ++i) {
      const Value row = row_at_[i / column_at.size()], column = column_at[i % column_at.size()];
      const Value sum = plus(load(product_.c, row, column), sums[i]);
      builder_.create<memref::StoreOp>(location_, sum, product_.c, ValueRange{row, column});
    }
  }

  // Short columns are over before the processor sees that they go on elsewhere.
  void ask_for_columns(ArrayRef<Value> column_at) {
    const int64_t depth = type_of(product_.b).getDimSize(0);
    const int64_t bits = type_of(product_.b).getElementType().getIntOrFloatBitWidth();
    if (mlir::ShapedType::isDynamic(depth) || depth * bits > kShortBytes * 8) return;
    const Value last = builder_.createOrFold<arith::SubIOp>(location_, size_of(product_.c, 1), index(1));
    for (const Value column : column_at) {
      const Value next = builder_.create<arith::MinUIOp>(location_, add(column, index(kAhead)), last);
      for (int64_t k = 0; k < depth; k += kLineBytes * 8 / bits) {
        builder_.create<memref::PrefetchOp>(location_, product_.b, ValueRange{index(k), next}, /*isWrite=*/false,
                                            /*localityHint=*/3, /*isDataCache=*/true);
      }
    }
  }

  Value turn(Value memory) {
    const auto swap = mlir::AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, builder_.getContext());
    return builder_.create<memref::TransposeOp>(location_, memory, mlir::AffineMapAttr::get(swap));
  }

  Value add_up(Value sums) {
    const auto kind = vector::CombiningKind::ADD;
    return builder_.create<vector::ReductionOp>(location_, kind, sums, arith::FastMathFlags::reassoc);
  }
};

enum class Along { kNothing, kColumns, kSteps };
Along direction_of(linalg::LinalgOp op, const ProductForm& form) {
  if (has_contiguous_columns(op, form) && is_contiguous_along(op, form, form.b, form.columns)) return Along::kColumns;
  if (!sums_at_once(op, form)) return Along::kNothing;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const unsigned step = *llvm::find_if(form.steps, [&](unsigned loop) { return sizes[loop] != 1; });
  const bool steps = is_contiguous_along(op, form, form.a, step) && is_contiguous_along(op, form, form.b, step);
  return steps ? Along::kSteps : Along::kNothing;
}

}  // namespace

bool lower_few_rows(mlir::IRRewriter& rewriter, linalg::LinalgOp op, const BodyOptions& options) {
  const std::optional<ProductForm> form = product_form_of_any_rows(op);
  if (!form || !few_rows(op, *form)) return false;
  const Along along = direction_of(op, *form);
  if (along == Along::kNothing) return false;
  const OpBuilder::InsertionGuard guard(rewriter);
  const Product product = open_product(rewriter, op, *form);
  if (along == Along::kColumns) {
    AlongColumns(rewriter, op.getLoc(), product, options).write();
  } else {
    AlongSteps(rewriter, op.getLoc(), product, options).write();
  }
  rewriter.eraseOp(op);
  return true;
}

}  // namespace baton::compiler_lite::codegen::cpu
