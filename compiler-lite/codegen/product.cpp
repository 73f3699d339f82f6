#include "compiler-lite/codegen/product.hpp"

#include "compiler-lite/codegen/linear_maps.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

namespace {

// In the type of the sum, of an element that was converted on the way or not. `is_signed` tells of integers that grew.
struct Factor {
  mlir::BlockArgument element;
  std::optional<bool> is_signed;
};

std::optional<Factor> factor_of(Value value) {
  Factor factor;
  if (mlir::Operation* cast = value.getDefiningOp()) {
    if (!llvm::isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp,
                   arith::UIToFPOp>(cast)) {
      return std::nullopt;
    }
    if (llvm::isa<arith::ExtSIOp, arith::SIToFPOp>(cast)) factor.is_signed = true;
    if (llvm::isa<arith::ExtUIOp, arith::UIToFPOp>(cast)) factor.is_signed = false;
    value = cast->getOperand(0);
  }
  factor.element = llvm::dyn_cast<mlir::BlockArgument>(value);
  return factor.element ? std::optional(factor) : std::nullopt;
}

// The operands of `value`, if it is what `Float` or `Integer` gives.
template <typename Float, typename Integer>
mlir::Operation* operation_of(Value value) {
  mlir::Operation* op = value.getDefiningOp();
  return llvm::isa_and_nonnull<Float, Integer>(op) ? op : nullptr;
}

// sum + a * b and nothing else. Says whether integers are converted as unsigned ones.
std::optional<bool> match_body(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op->getNumRegions() != 1) return std::nullopt;
  mlir::Block& body = op->getRegion(0).front();
  if (body.getNumArguments() != 3) return std::nullopt;  // linalg.map hands its body no element of the result.
  mlir::Operation* sum = operation_of<arith::AddFOp, arith::AddIOp>(body.getTerminator()->getOperand(0));
  if (!sum || sum->getBlock() != &body) return std::nullopt;
  const bool is_first = sum->getOperand(0) == body.getArgument(2);
  if (!is_first && sum->getOperand(1) != body.getArgument(2)) return std::nullopt;
  mlir::Operation* product = operation_of<arith::MulFOp, arith::MulIOp>(sum->getOperand(is_first ? 1 : 0));
  if (!product) return std::nullopt;
  const std::optional<Factor> a = factor_of(product->getOperand(0)), b = factor_of(product->getOperand(1));
  if (!a || !b || a->element.getOwner() != &body || b->element.getOwner() != &body) return std::nullopt;
  const unsigned first = a->element.getArgNumber(), second = b->element.getArgNumber();
  if (first + second != 1 || first > 1) return std::nullopt;
  const std::optional<bool> is_signed = a->is_signed ? a->is_signed : b->is_signed;
  if (a->is_signed && b->is_signed && *a->is_signed != *b->is_signed) return std::nullopt;
  return is_signed && !*is_signed;
}

constexpr int64_t kUnknownSize = 1024;

// How the loops of an operation move its three operands.
class LoopSteps {
 public:
  static std::optional<LoopSteps> of(linalg::LinalgOp op) {
    LoopSteps all(op);
    for (const mlir::AffineMap map : op.getIndexingMapsArray()) {
      std::optional<llvm::SmallVector<Steps>> steps = linear_steps(map);
      if (!steps) return std::nullopt;
      all.steps_.push_back(std::move(*steps));
    }
    return all;
  }

  bool moves(unsigned operand, unsigned loop) const {
    return llvm::any_of(steps_[operand], [&](const Steps& steps) { return steps[loop] != 0; });
  }
  // By dimension.
  llvm::ArrayRef<Steps> steps(unsigned operand) const { return steps_[operand]; }
  bool is_parallel(unsigned loop) const { return kinds_[loop] == mlir::utils::IteratorType::parallel; }
  unsigned count() const { return static_cast<unsigned>(kinds_.size()); }
  int64_t size(unsigned loop) const { return sizes_[loop]; }
  int64_t likely_size(unsigned loop) const {
    return mlir::ShapedType::isDynamic(sizes_[loop]) ? kUnknownSize : sizes_[loop];
  }

 private:
  explicit LoopSteps(linalg::LinalgOp op) : kinds_(op.getIteratorTypesArray()), sizes_(op.getStaticLoopRanges()) {}

  llvm::SmallVector<mlir::utils::IteratorType> kinds_;
  llvm::SmallVector<int64_t> sizes_;
  llvm::SmallVector<llvm::SmallVector<Steps>> steps_;
};

// The fastest loop of C that is more than one step.
std::optional<unsigned> fastest_loop(const LoopSteps& loops, mlir::AffineMap c) {
  for (const mlir::AffineExpr result : llvm::reverse(c.getResults())) {
    const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(result);
    if (!loop) return std::nullopt;
    if (loops.size(loop.getPosition()) != 1) return loop.getPosition();
  }
  return std::nullopt;
}

}  // namespace

bool has_small_factors(linalg::LinalgOp product) {
  const mlir::Type element = mlir::getElementTypeOrSelf(product->getOperand(0).getType());
  if (!element.isInteger(8)) return element.isF16() || element.isBF16();
  return element == mlir::getElementTypeOrSelf(product->getOperand(1).getType()) &&
         mlir::getElementTypeOrSelf(product.getDpsInits()[0].getType()).isInteger(32);
}

std::optional<ProductForm> product_form(linalg::LinalgOp op) {
  std::optional<ProductForm> form = product_form_of_any_rows(op);
  return form && form->rows != ProductForm::kNone ? form : std::nullopt;
}

std::optional<ProductForm> product_form_of_any_rows(linalg::LinalgOp op) {
  const std::optional<bool> is_unsigned = match_body(op);
  const std::optional<LoopSteps> loops = is_unsigned ? LoopSteps::of(op) : std::nullopt;
  if (!loops || !op.getIndexingMapsArray()[2].isProjectedPermutation()) return std::nullopt;
  const std::optional<unsigned> columns = fastest_loop(*loops, op.getIndexingMapsArray()[2]);
  if (!columns || loops->moves(0, *columns) == loops->moves(1, *columns)) return std::nullopt;
  ProductForm form;
  form.columns = *columns;
  form.is_unsigned = *is_unsigned;
  if (loops->moves(0, *columns)) std::swap(form.a, form.b);
  std::optional<unsigned> rows;
  for (unsigned loop = 0; loop < loops->count(); ++loop) {
    if (loop == *columns) continue;
    const bool in_a = loops->moves(form.a, loop), in_b = loops->moves(form.b, loop);
    if (!loops->is_parallel(loop)) {
      form.steps.push_back(loop);
    } else if (in_a && !in_b) {
      form.other_rows.push_back(loop);
      const bool better = !rows || loops->likely_size(loop) >= loops->likely_size(*rows);
      if (loops->size(loop) != 1 && better) rows = loop;
    } else {
      (in_b && !in_a ? form.other_columns : form.batches).push_back(loop);
    }
  }
  if (llvm::all_of(form.steps, [&](unsigned loop) { return loops->size(loop) == 1; })) return std::nullopt;
  if (rows) {
    form.rows = *rows;
    llvm::erase(form.other_rows, *rows);
  }
  return form;
}

std::optional<int64_t> few_rows(linalg::LinalgOp op, const ProductForm& form) {
  // Shorter sums, and smaller matrices, aren't worth it.
  constexpr int64_t kFewSteps = 16, kSmallMatrix = 4096;
  const auto is_stored = [](mlir::Type type) {
    const mlir::Type element = mlir::getElementTypeOrSelf(type);
    return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8 &&
           llvm::isPowerOf2_32(element.getIntOrFloatBitWidth());
  };
  // Sums of f16 and bf16 come in f32 (widen_sums.hpp).
  const mlir::Type sum = mlir::getElementTypeOrSelf(op.getDpsInits()[0].getType());
  if (!llvm::all_of(op->getOperandTypes(), is_stored) || sum.isF16() || sum.isBF16()) return std::nullopt;
  const llvm::SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  llvm::SmallVector<unsigned> row_loops = form.other_rows;
  if (form.rows != ProductForm::kNone) row_loops.push_back(form.rows);
  int64_t rows = 1, others = 1;
  bool is_long = false;
  for (unsigned loop = 0; loop < sizes.size(); ++loop) {
    const bool is_open = mlir::ShapedType::isDynamic(sizes[loop]);
    if (llvm::is_contained(row_loops, loop)) {
      if (is_open || sizes[loop] < 1 || sizes[loop] > kFewRows) return std::nullopt;
      rows *= sizes[loop];
      if (rows > kFewRows) return std::nullopt;
      continue;
    }
    others = std::min(kSmallMatrix, others * (is_open ? kSmallMatrix : std::min(sizes[loop], kSmallMatrix)));
    is_long |= llvm::is_contained(form.steps, loop) && (is_open || sizes[loop] >= kFewSteps);
  }
  return is_long && others >= kSmallMatrix ? std::optional(rows) : std::nullopt;
}

bool sums_products(linalg::LinalgOp op) { return match_body(op).has_value(); }

// What computes `value` behind operations of one operand; null where that is an argument of the body.
static mlir::Operation* computing_operation(mlir::Value value) {
  mlir::Operation* computed = value.getDefiningOp();
  while (computed && computed->getNumOperands() == 1) computed = computed->getOperand(0).getDefiningOp();
  return computed;
}

// Upstream's test takes for granted that a body yields one result of two operands, one of which is computed.
static bool may_ask_upstream(linalg::LinalgOp op) {
  mlir::Operation* yield = op.getBlock()->getTerminator();
  if (yield->getNumOperands() != 1) return false;
  mlir::Operation* sum = computing_operation(yield->getOperand(0));
  return sum && llvm::any_of(sum->getOperands(), computing_operation);
}

// The loops of C outside of its columns, the innermost first.
static llvm::SmallVector<unsigned> loops_outwards(linalg::LinalgOp op, const ProductForm& form) {
  llvm::SmallVector<unsigned> loops;
  const llvm::SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (const mlir::AffineExpr each : llvm::reverse(op.getIndexingMapsArray()[2].getResults())) {
    const unsigned loop = llvm::cast<mlir::AffineDimExpr>(each).getPosition();
    if (loop != form.columns && sizes[loop] != 1) loops.push_back(loop);
  }
  return loops;
}

llvm::SmallVector<unsigned> row_group_loops(linalg::LinalgOp op, const ProductForm& form) {
  llvm::SmallVector<unsigned> groups;
  const mlir::AffineMap a = op.getIndexingMapsArray()[form.a];
  if (form.rows == ProductForm::kNone || a.getNumResults() == 0) return groups;
  const auto last = llvm::dyn_cast<mlir::AffineDimExpr>(a.getResults().back());
  if (!last || !llvm::is_contained(form.steps, last.getPosition())) return groups;
  const llvm::SmallVector<unsigned> outwards = loops_outwards(op, form);
  if (outwards.empty() || outwards.front() != form.rows) return groups;
  for (const unsigned loop : llvm::drop_begin(outwards)) {
    const int64_t size = op.getStaticLoopRanges()[loop];
    if (mlir::ShapedType::isDynamic(size) || size < 1 || !llvm::is_contained(form.other_rows, loop)) break;
    groups.push_back(loop);
  }
  return groups;
}

ProductForm with_row_groups(linalg::LinalgOp op, const ProductForm& form) {
  constexpr int64_t kManyRows = 64;
  const llvm::SmallVector<unsigned> outwards = loops_outwards(op, form);
  if (form.rows == ProductForm::kNone || outwards.empty()) return form;
  const llvm::SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const unsigned innermost = outwards.front();
  if (mlir::ShapedType::isDynamic(sizes[innermost]) || mlir::ShapedType::isDynamic(sizes[form.rows])) return form;
  if (sizes[innermost] < 1) return form;
  if (sizes[form.rows] >= kManyRows || (innermost != form.rows && !llvm::is_contained(form.other_rows, innermost))) {
    return form;
  }
  ProductForm grouped = form;
  if (innermost != form.rows) {
    llvm::erase(grouped.other_rows, innermost);
    grouped.other_rows.push_back(form.rows);
    grouped.rows = innermost;
  }
  return row_group_loops(op, grouped).empty() ? form : grouped;
}

bool is_tiny(linalg::LinalgOp op, const ProductForm& form) {
  constexpr int64_t kTinySide = 16;
  const llvm::SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const auto count = [&](llvm::ArrayRef<unsigned> loops) {
    int64_t all = 1;
    for (const unsigned loop : loops) {
      const bool is_known = !mlir::ShapedType::isDynamic(sizes[loop]) && sizes[loop] <= kTinySide;
      all *= is_known ? sizes[loop] : kTinySide + 1;
    }
    return all;
  };
  if (form.rows == ProductForm::kNone) return false;
  return count(form.rows) * count(form.other_rows) <= kTinySide &&
         count(form.columns) * count(form.other_columns) <= kTinySide && count(form.steps) <= kTinySide;
}

bool is_product(linalg::LinalgOp op) {
  return product_form(op) || (may_ask_upstream(op) && linalg::isaContractionOpInterface(op));
}

bool sums_at_once(linalg::LinalgOp op, const ProductForm& form) {
  const llvm::SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  return llvm::count_if(form.steps, [&](unsigned loop) { return sizes[loop] != 1; }) == 1;
}

bool has_contiguous_rows(Value memory) {
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  return mlir::succeeded(mlir::getStridesAndOffset(llvm::cast<mlir::MemRefType>(memory.getType()), strides, offset)) &&
         !strides.empty() && strides.back() == 1;
}

int contiguous_dimension(Value memory) {
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (mlir::failed(mlir::getStridesAndOffset(llvm::cast<mlir::MemRefType>(memory.getType()), strides, offset))) {
    return -1;
  }
  return strides[1] == 1 ? 1 : strides[0] == 1 ? 0 : -1;
}

Value convert_element(OpBuilder& builder, Location location, Value value, mlir::Type type, bool is_unsigned) {
  const mlir::Type from = mlir::getElementTypeOrSelf(value.getType());
  const mlir::Type to = mlir::getElementTypeOrSelf(type);
  if (from == to) return value;
  if (llvm::isa<mlir::FloatType>(to)) {
    if (llvm::isa<mlir::FloatType>(from)) {
      const bool wider = to.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth();
      return wider ? builder.create<arith::ExtFOp>(location, type, value).getResult()
                   : builder.create<arith::TruncFOp>(location, type, value).getResult();
    }
    return is_unsigned ? builder.create<arith::UIToFPOp>(location, type, value).getResult()
                       : builder.create<arith::SIToFPOp>(location, type, value).getResult();
  }
  if (to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth()) {
    return builder.create<arith::TruncIOp>(location, type, value);
  }
  return is_unsigned ? builder.create<arith::ExtUIOp>(location, type, value).getResult()
                     : builder.create<arith::ExtSIOp>(location, type, value).getResult();
}

namespace {

// Writes the loops around the matrices, and the matrices.
class Opening {
 public:
  Opening(mlir::IRRewriter& rewriter, linalg::LinalgOp op, const ProductForm& form)
      : rewriter_(rewriter),
        op_(op),
        form_(form),
        location_(op.getLoc()),
        loops_(*LoopSteps::of(op)),
        around_(op.getNumLoops()) {}

  Product run(bool leaves_turns, bool leaves_groups) {
    begin();
    Side rows =
        form_.rows == ProductForm::kNone ? Side{form_.rows, 1, {}, {}} : begin_side(form_.rows, form_.other_rows);
    Side columns = begin_side(form_.columns, form_.other_columns);
    Side steps = longest_side(form_.steps, kUnknownSize);
    const Side rows_of_a = rows;
    llvm::SmallVector<Product::RowGroup> groups;
    if (leaves_groups && is_contiguous(form_.a, steps.loop)) groups = add_groups(rows);
    for (const llvm::ArrayRef<unsigned> outer :
         {llvm::ArrayRef(form_.batches), llvm::ArrayRef(rows.outer), llvm::ArrayRef(columns.outer)}) {
      for (const unsigned loop : outer) open_loop(loop);
    }
    llvm::SmallVector<Product::Turn> turns;
    for (const unsigned loop : steps.outer) {
      if (!leaves_turns) {
        open_loop(loop);
      } else if (loops_.size(loop) != 1) {
        turns.push_back({value(size(loop)), value(stride(form_.a, loop)), value(stride(form_.b, loop))});
      }
    }
    Product product = matrices(rows_of_a, rows, steps, columns);
    product.turns = std::move(turns);
    product.row_groups = std::move(groups);
    return product;
  }

  Product run_of_rows() {
    begin();
    // What isn't known is most often how much of a short loop is left to a tile.
    llvm::SmallVector<unsigned> row_loops{form_.rows};
    row_loops.append(form_.other_rows);
    const Side rows = longest_side(row_loops, /*unknown_size=*/kFewRows),
               columns = begin_side(form_.columns, form_.other_columns),
               steps = longest_side(form_.steps, kUnknownSize);
    for (const llvm::ArrayRef<unsigned> outer :
         {llvm::ArrayRef(form_.batches), llvm::ArrayRef(columns.outer), llvm::ArrayRef(steps.outer)}) {
      for (const unsigned loop : outer) open_loop(loop);
    }
    Product product = matrices(rows, rows, steps, columns);
    for (const unsigned loop : rows.outer)
      product.row_turns.push_back({value(size(loop)), value(stride(form_.a, loop)), value(stride(2, loop))});
    return product;
  }

  // Whether the operand goes one element forward with each step of the loop.
  bool is_contiguous(unsigned operand, unsigned loop) {
    llvm::SmallVector<int64_t> strides;
    int64_t offset = 0;
    const auto type = llvm::cast<mlir::MemRefType>(op_->getOperand(operand).getType());
    if (mlir::failed(mlir::getStridesAndOffset(type, strides, offset))) return false;
    int64_t stride = 0;
    for (size_t d = 0; d < strides.size(); ++d) {
      const int64_t steps = loops_.steps(operand)[d][loop];
      if (steps != 0 && mlir::ShapedType::isDynamic(strides[d])) return false;
      stride += steps == 0 ? 0 : steps * strides[d];
    }
    return stride == 1;
  }

 private:
  using Fold = mlir::OpFoldResult;
  // The loops that are one dimension of the matrices: the fastest one, and how many steps they make together.
  struct Side {
    unsigned loop = 0;
    int64_t size = mlir::ShapedType::kDynamic;
    llvm::SmallVector<unsigned> outer;
    llvm::SmallVector<Product::Digit> digits;
  };

  void begin() {
    rewriter_.setInsertionPoint(op_);
    for (unsigned operand = 0; operand < 3; ++operand) read_layout(operand);
  }

  Product matrices(const Side& rows_of_a, const Side& rows, const Side& steps, const Side& columns) {
    Product product{view(form_.a, rows_of_a, steps), view(form_.b, steps, columns), view(2, rows, columns),
                    form_.is_unsigned};
    product.sum_type = op_.getRegionOutputArgs()[0].getType();
    product.around = around_;
    product.rows = rows.digits;
    product.columns = columns.digits;
    return product;
  }

  static std::optional<int64_t> number(Fold value) { return mlir::getConstantIntValue(value); }

  Fold add(Fold a, Fold b) {
    if (number(a) && number(b)) return rewriter_.getIndexAttr(*number(a) + *number(b));
    if (number(a) == 0) return b;
    return number(b) == 0 ? a : Fold(rewriter_.createOrFold<arith::AddIOp>(location_, value(a), value(b)));
  }
  Fold times(Fold a, Fold b) {
    if (number(a) && number(b)) return rewriter_.getIndexAttr(*number(a) * *number(b));
    if (number(a) == 0 || number(b) == 0) return rewriter_.getIndexAttr(0);
    if (number(a) == 1) return b;
    return number(b) == 1 ? a : Fold(rewriter_.createOrFold<arith::MulIOp>(location_, value(a), value(b)));
  }
  Value value(Fold fold) { return mlir::getValueOrCreateConstantIndexOp(rewriter_, location_, fold); }

  void read_layout(unsigned operand) {
    const Value memory = op_->getOperand(operand);
    llvm::SmallVector<int64_t> strides;
    int64_t offset = 0;
    const auto type = llvm::cast<mlir::MemRefType>(memory.getType());
    const bool is_known = mlir::succeeded(mlir::getStridesAndOffset(type, strides, offset)) &&
                          !mlir::ShapedType::isDynamic(offset) && llvm::none_of(strides, mlir::ShapedType::isDynamic);
    if (is_known) {
      offsets_[operand] = rewriter_.getIndexAttr(offset);
      for (const int64_t stride : strides) strides_[operand].push_back(rewriter_.getIndexAttr(stride));
      return;
    }
    auto layout = rewriter_.create<memref::ExtractStridedMetadataOp>(location_, memory);
    offsets_[operand] = layout.getConstifiedMixedOffset();
    strides_[operand] = layout.getConstifiedMixedStrides();
  }

  // How far a step of the loop goes in the operand's memory.
  Fold stride(unsigned operand, unsigned loop) {
    if (loop == ProductForm::kNone) return rewriter_.getIndexAttr(1);  // There is no second step.
    Fold sum = rewriter_.getIndexAttr(0);
    for (size_t d = 0; d < strides_[operand].size(); ++d) {
      sum = add(sum, times(rewriter_.getIndexAttr(loops_.steps(operand)[d][loop]), strides_[operand][d]));
    }
    return sum;
  }

  Fold size(unsigned loop) {
    if (!mlir::ShapedType::isDynamic(loops_.size(loop))) return rewriter_.getIndexAttr(loops_.size(loop));
    const auto wanted = mlir::getAffineDimExpr(loop, rewriter_.getContext());
    for (const unsigned operand : {2u, 0u, 1u}) {
      const mlir::AffineMap map = op_.getIndexingMapsArray()[operand];
      for (unsigned d = 0; d < map.getNumResults(); ++d) {
        if (map.getResult(d) == wanted)
          return rewriter_.createOrFold<memref::DimOp>(location_, op_->getOperand(operand), d);
      }
    }
    return rewriter_.getIndexAttr(1);
  }

  // Whether `outer` begins again in memory where a whole side of `length` steps of `inner` ends.
  bool continues(unsigned operand, unsigned outer, unsigned inner, int64_t length) {
    const auto far = number(stride(operand, outer)), near = number(stride(operand, inner));
    return far && near && *far == *near * length;
  }

  // Takes `loop` along, whose steps are each all that the side has.
  void take(Side& side, unsigned loop) {
    side.size *= loops_.size(loop);
    side.digits.push_back({loop, loops_.size(loop)});
    llvm::erase(side.outer, loop);
  }

  Side begin_side(unsigned loop, llvm::ArrayRef<unsigned> others) {
    Side side{loop, loops_.size(loop), llvm::SmallVector<unsigned>(others), {{loop, loops_.size(loop)}}};
    llvm::erase_if(side.outer, [&](unsigned other) { return loops_.size(other) == 1; });
    const auto continues_all = [&](unsigned next) {
      return llvm::all_of(llvm::seq(0u, 3u),
                          [&](unsigned operand) { return continues(operand, next, side.loop, side.size); });
    };
    while (const std::optional<unsigned> next = next_of(side, continues_all)) take(side, *next);
    return side;
  }

  // A loop outside of the side that goes on where it ends; nothing where sizes are open.
  template <typename Continues>
  std::optional<unsigned> next_of(const Side& side, const Continues& continues_side) {
    if (mlir::ShapedType::isDynamic(side.size)) return std::nullopt;
    for (const unsigned loop : side.outer) {
      if (!mlir::ShapedType::isDynamic(loops_.size(loop)) && continues_side(loop)) return loop;
    }
    return std::nullopt;
  }

  // Rows that go on in C.
  llvm::SmallVector<Product::RowGroup> add_groups(Side& rows) {
    if (rows.loop == ProductForm::kNone) return {};
    llvm::SmallVector<Product::RowGroup> groups{{rows.size, value(stride(form_.a, rows.loop))}};
    const auto continues_in_c = [&](unsigned next) { return continues(2, next, rows.loop, rows.size); };
    while (const std::optional<unsigned> next = next_of(rows, continues_in_c)) {
      groups.push_back({loops_.size(*next), value(stride(form_.a, *next))});
      take(rows, *next);
    }
    return groups.size() > 1 ? groups : llvm::SmallVector<Product::RowGroup>();
  }

  Side longest_side(llvm::ArrayRef<unsigned> loops, int64_t unknown_size) {
    std::optional<Side> best;
    const auto length = [&](const Side& side) {
      return mlir::ShapedType::isDynamic(side.size) ? unknown_size : side.size;
    };
    for (const unsigned loop : loops) {
      llvm::SmallVector<unsigned> others(loops);
      llvm::erase(others, loop);
      Side side = begin_side(loop, others);
      if (!best || length(side) > length(*best)) best = std::move(side);
    }
    return *best;
  }

  void open_loop(unsigned loop) {
    if (loops_.size(loop) == 1) return;
    // Before the loop, where they are the same in all turns.
    const Fold strides[3] = {stride(0, loop), stride(1, loop), stride(2, loop)};
    const Value zero = rewriter_.create<arith::ConstantIndexOp>(location_, 0);
    const Value one = rewriter_.create<arith::ConstantIndexOp>(location_, 1);
    auto turns = rewriter_.create<scf::ForOp>(location_, zero, value(size(loop)), one);
    rewriter_.setInsertionPointToStart(turns.getBody());
    around_[loop] = turns.getInductionVar();
    for (unsigned operand = 0; operand < 3; ++operand) {
      offsets_[operand] = add(offsets_[operand], times(turns.getInductionVar(), strides[operand]));
    }
  }

  Value view(unsigned operand, const Side& rows, const Side& columns) {
    const Value memory = op_->getOperand(operand);
    const mlir::AffineMap map = op_.getIndexingMapsArray()[operand];
    const auto dimension = [&](unsigned loop) { return mlir::getAffineDimExpr(loop, rewriter_.getContext()); };
    const auto is_map = [&](unsigned first, unsigned second) {
      if (first == ProductForm::kNone || second == ProductForm::kNone) return false;
      return map.getNumResults() == 2 && map.getResult(0) == dimension(first) && map.getResult(1) == dimension(second);
    };
    if (is_map(rows.loop, columns.loop)) return memory;
    if (is_map(columns.loop, rows.loop)) return transpose(memory);
    const auto side_size = [&](const Side& side) {
      return mlir::ShapedType::isDynamic(side.size) ? size(side.loop) : Fold(rewriter_.getIndexAttr(side.size));
    };
    const llvm::SmallVector<Fold> sizes{side_size(rows), side_size(columns)};
    const llvm::SmallVector<Fold> strides{stride(operand, rows.loop), stride(operand, columns.loop)};
    return rewriter_.create<memref::ReinterpretCastOp>(location_, view_type(operand, sizes, strides), memory,
                                                       offsets_[operand], sizes, strides);
  }

  mlir::MemRefType view_type(unsigned operand, llvm::ArrayRef<Fold> sizes, llvm::ArrayRef<Fold> strides) {
    const auto static_or_dynamic = [](Fold fold) { return number(fold).value_or(mlir::ShapedType::kDynamic); };
    const auto layout = mlir::StridedLayoutAttr::get(rewriter_.getContext(), static_or_dynamic(offsets_[operand]),
                                                     {static_or_dynamic(strides[0]), static_or_dynamic(strides[1])});
    const auto whole = llvm::cast<mlir::MemRefType>(op_->getOperand(operand).getType());
    return mlir::MemRefType::get({static_or_dynamic(sizes[0]), static_or_dynamic(sizes[1])}, whole.getElementType(),
                                 layout, whole.getMemorySpace());
  }

  Value transpose(Value memory) {
    const auto swap = mlir::AffineMap::getPermutationMap(llvm::ArrayRef<unsigned>{1, 0}, rewriter_.getContext());
    return rewriter_.create<memref::TransposeOp>(location_, memory, mlir::AffineMapAttr::get(swap));
  }

  mlir::IRRewriter& rewriter_;
  linalg::LinalgOp op_;
  const ProductForm& form_;
  Location location_;
  LoopSteps loops_;
  llvm::SmallVector<Value> around_;  // Product::around.
  Fold offsets_[3];
  llvm::SmallVector<Fold> strides_[3];
};

}  // namespace

Product open_product(mlir::IRRewriter& rewriter, linalg::LinalgOp op, const ProductForm& form, bool leaves_turns,
                     bool leaves_groups) {
  return Opening(rewriter, op, form).run(leaves_turns, leaves_groups);
}

Product open_product_of_rows(mlir::IRRewriter& rewriter, linalg::LinalgOp op, const ProductForm& form) {
  return Opening(rewriter, op, form).run_of_rows();
}

bool has_contiguous_columns(linalg::LinalgOp op, const ProductForm& form) {
  return is_contiguous_along(op, form, 2, form.columns);
}

bool is_contiguous_along(linalg::LinalgOp op, const ProductForm& form, unsigned operand, unsigned loop) {
  mlir::IRRewriter rewriter(op.getContext());
  return Opening(rewriter, op, form).is_contiguous(operand, loop);
}

}  // namespace baton::compiler_lite::codegen
