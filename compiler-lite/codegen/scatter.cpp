#include "compiler-lite/codegen/scatter.hpp"

#include "compiler-lite/codegen/index_checks.hpp"
#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/points.hpp"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace scf = mlir::scf;
namespace tensor = mlir::tensor;
using mlir::AffineExpr;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

constexpr int64_t kThreads = 256;
// Updates' elements of a workgroup.
constexpr int64_t kElements = 4 * kThreads;
// Elements of a result that all updates would wait for, if there are so many for each: each workgroup has its own first.
constexpr int64_t kGatheredMax = 2048, kUpdatesOfEach = 64, kGatheringWorkgroups = 1024;

// Whether a value of the body is computed from one of `roots`.
bool depends_on(Value value, mlir::Block& body, llvm::ArrayRef<Value> roots) {
  if (llvm::is_contained(roots, value)) return true;
  mlir::Operation* op = value.getDefiningOp();
  if (!op || op->getBlock() != &body) return false;
  bool depends = false;
  op->walk([&](mlir::Operation* inner) {
    for (const Value operand : inner->getOperands()) depends = depends || depends_on(operand, body, roots);
  });
  return depends;
}

std::optional<arith::AtomicRMWKind> kind_of(mlir::Operation* op) {
  using Kind = arith::AtomicRMWKind;
  if (llvm::isa<arith::AddIOp>(op)) return Kind::addi;
  if (llvm::isa<arith::MaxSIOp>(op)) return Kind::maxs;
  if (llvm::isa<arith::MinSIOp>(op)) return Kind::mins;
  if (llvm::isa<arith::MaxUIOp>(op)) return Kind::maxu;
  if (llvm::isa<arith::MinUIOp>(op)) return Kind::minu;
  if (llvm::isa<arith::AndIOp>(op)) return Kind::andi;
  if (llvm::isa<arith::OrIOp>(op)) return Kind::ori;
  return std::nullopt;
}

bool is_atomic(mlir::Type type) { return type.isInteger(32) || type.isInteger(64); }
bool is_stored_whole(mlir::Type type) {
  return type.isInteger(1) || (type.isIntOrFloat() && type.getIntOrFloatBitWidth() % 8 == 0);
}

class Matcher {
 public:
  explicit Matcher(linalg::GenericOp op) : op_(op), body_(*op.getBody()) { found_.op = op; }

  std::optional<Scatter> match() {
    if (op_->getNumResults() != 1 || op_.getNumReductionLoops() == 0 || !op_.hasPureTensorSemantics()) {
      return std::nullopt;
    }
    const mlir::AffineMap written = op_.getMatchingIndexingMap(op_.getDpsInitOperand(0));
    const bool is_whole = written.isProjectedPermutation() && written.getNumResults() == op_.getNumParallelLoops();
    auto chosen = body_.getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
    so_far_ = body_.getArguments().back();
    if (!is_whole || !chosen || chosen.getFalseValue() != so_far_) return std::nullopt;
    if (!matches_row(chosen.getCondition()) || !matches_value(chosen)) return std::nullopt;
    return maps_fit() && nothing_reads_result() ? std::optional(found_) : std::nullopt;
  }

 private:
  // `index of a row == land`, in either order.
  bool matches_row(Value hit) {
    auto equal = hit.getDefiningOp<arith::CmpIOp>();
    if (!equal || equal.getPredicate() != arith::CmpIPredicate::eq) return false;
    return matches_row(equal.getLhs(), equal.getRhs()) || matches_row(equal.getRhs(), equal.getLhs());
  }

  bool matches_row(Value number, Value land) {
    Value index = number;
    bool is_unsigned = false;
    if (auto cast = number.getDefiningOp<arith::IndexCastOp>()) index = cast.getIn();
    if (auto cast = number.getDefiningOp<arith::IndexCastUIOp>()) {
      index = cast.getIn();
      is_unsigned = true;
    }
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    if (!loop || loop->getBlock() != &body_) return false;
    const auto row = static_cast<unsigned>(loop.getDim());
    if (op_.getIteratorTypesArray()[row] != mlir::utils::IteratorType::parallel) return false;
    if (depends_on(land, body_, {so_far_}) || depends_on_row(land, row)) return false;
    found_.row = row;
    found_.land = land;
    found_.is_land_unsigned = is_unsigned;
    return names_each_row(number.getType(), is_unsigned);
  }

  // A narrow number comes again where there are more rows than it can tell apart.
  bool names_each_row(mlir::Type type, bool is_unsigned) {
    if (type.isIndex()) return true;
    const unsigned bits = type.getIntOrFloatBitWidth() - (is_unsigned ? 0 : 1);
    if (bits >= 31) return true;
    const int64_t rows = op_.getStaticLoopRanges()[found_.row];
    return !mlir::ShapedType::isDynamic(rows) && rows <= (int64_t{1} << bits);
  }

  bool depends_on_row(Value value, unsigned row) {
    llvm::SmallVector<Value> rows;
    for (auto index : body_.getOps<linalg::IndexOp>()) {
      if (index.getDim() == row) rows.push_back(index);
    }
    return depends_on(value, body_, rows);
  }

  bool matches_value(arith::SelectOp chosen) {
    const Value joined = chosen.getTrueValue();
    const mlir::Type type = so_far_.getType();
    if (op_->hasAttr(kUniqueRows)) {
      found_.value = joined;
      return is_stored_whole(type) && !depends_on_row(joined, found_.row);
    }
    mlir::Operation* op = joined.getDefiningOp();
    if (op) found_.combiner = kind_of(op);
    if (!found_.combiner || !is_atomic(type) || !joined.hasOneUse()) return false;
    const bool is_left = op->getOperand(0) == so_far_;
    if (!is_left && op->getOperand(1) != so_far_) return false;
    found_.value = op->getOperand(is_left ? 1 : 0);
    return !depends_on(found_.value, body_, {so_far_}) && !depends_on_row(found_.value, found_.row);
  }

  // An update doesn't know for which row it is asked.
  bool maps_fit() {
    return llvm::all_of(op_.getDpsInputOperands(), [&](mlir::OpOperand* input) {
      const mlir::AffineMap map = op_.getMatchingIndexingMap(input);
      return map.isProjectedPermutation() && !map.isFunctionOfDim(found_.row);
    });
  }

  bool nothing_reads_result() {
    const Value result = op_.getDpsInits()[0];
    const bool is_input = llvm::is_contained(op_.getDpsInputs(), result);
    bool is_read = false;
    body_.walk([&](mlir::Operation* op) { is_read = is_read || llvm::is_contained(op->getOperands(), result); });
    return !is_input && !is_read;
  }

  linalg::GenericOp op_;
  mlir::Block& body_;
  Value so_far_;
  Scatter found_;
};

class KernelWriter {
 public:
  KernelWriter(const Scatter& scatter, Value memory)
      : scatter_(scatter), op_(scatter.op), memory_(memory), builder_(op_), location_(op_.getLoc()) {}

  // The loops over updates, the result's own ones last: threads side by side write side by side.
  llvm::SmallVector<unsigned> loops() {
    llvm::SmallVector<unsigned> loops;
    const auto kinds = op_.getIteratorTypesArray();
    for (unsigned i = 0; i < op_.getNumLoops(); ++i) {
      if (kinds[i] == mlir::utils::IteratorType::reduction) loops.push_back(i);
    }
    for (const AffineExpr each : written().getResults()) {
      const unsigned loop = llvm::cast<mlir::AffineDimExpr>(each).getPosition();
      if (loop != scatter_.row) loops.push_back(loop);
    }
    return loops;
  }

  // An operand that has the loop among its dimensions, and which of them it is.
  std::pair<mlir::OpOperand*, unsigned> dimension_of(unsigned loop) {
    for (mlir::OpOperand& operand : op_->getOpOperands()) {
      const mlir::AffineMap map = op_.getMatchingIndexingMap(&operand);
      const auto place = map.getResultPosition(mlir::getAffineDimExpr(loop, op_.getContext()));
      if (place) return {&operand, *place};
    }
    return {nullptr, 0};
  }

  // How many of the `count` elements of updates a workgroup takes. Workgroups first add up their own updates only where
  // the counts say that many updates meet in each element of a small result.
  int64_t elements(std::optional<int64_t> count) {
    gathers_ = scatter_.combiner && count && type().hasStaticShape() && type().getNumElements() <= kGatheredMax &&
               *count >= kUpdatesOfEach * type().getNumElements();
    return gathers_ ? std::max(kElements, llvm::divideCeilSigned(*count, kGatheringWorkgroups)) : kElements;
  }

  void write(int64_t elements) {
    const Value memory = memory_;
    if (gathers_) begin_gathering();
    write_updates(elements);
    if (gathers_) hand_over(memory);
  }

 private:
  mlir::MemRefType type() { return llvm::cast<mlir::MemRefType>(memory_.getType()); }

  // Code is written at `builder_`, inside of the loop, too.
  void for_each_point(Value count, llvm::function_ref<void(Value)> body) {
    OpBuilder outside = builder_;
    for_points(outside, location_, count, [&](OpBuilder& inside, Value number) {
      builder_ = inside;
      body(number);
    });
    builder_ = outside;
  }

  void for_elements(llvm::function_ref<void(mlir::ValueRange)> body) {
    for_each_point(index(type().getNumElements()), [&](Value number) {
      llvm::SmallVector<Value> sizes;
      for (const int64_t size : type().getShape()) sizes.push_back(index(size));
      body(split(builder_, location_, number, sizes));
    });
  }

  // A workgroup joins its updates in memory of its own first.
  void begin_gathering() {
    memory_ = builder_.create<mlir::memref::AllocOp>(location_, type());
    neutral_ = arith::getIdentityValue(*scatter_.combiner, type().getElementType(), builder_, location_);
    for_elements(
        [&](mlir::ValueRange place) { builder_.create<mlir::memref::StoreOp>(location_, neutral_, memory_, place); });
  }

  void hand_over(Value memory) {
    for_elements([&](mlir::ValueRange place) {
      const Value joined = builder_.create<mlir::memref::LoadOp>(location_, memory_, place);
      const Value has_some = builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ne, joined, neutral_);
      auto branch = builder_.create<scf::IfOp>(location_, has_some);
      builder_ = branch.getThenBodyBuilder();
      builder_.create<mlir::memref::AtomicRMWOp>(location_, *scatter_.combiner, joined, memory, place);
    });
  }

  void write_updates(int64_t elements) {
    const llvm::SmallVector<unsigned> order = loops();
    llvm::SmallVector<Value> sizes;
    for (const unsigned loop : order) {
      const auto [operand, dimension] = dimension_of(loop);
      sizes.push_back(builder_.createOrFold<tensor::DimOp>(location_, operand->get(), dimension));
    }
    Value count = index(1);
    for (const Value size : sizes) count = builder_.createOrFold<arith::MulIOp>(location_, count, size);
    const Value first =
        builder_.create<arith::MulIOp>(location_, make_workgroup_id(builder_, location_, 0), index(elements));
    const Value rest = builder_.create<arith::SubIOp>(location_, count, first);
    for_each_point(builder_.create<arith::MinUIOp>(location_, rest, index(elements)), [&](Value number) {
      const Value at = builder_.create<arith::AddIOp>(location_, first, number);
      write_update(point_of(at, order, sizes));
    });
  }

  mlir::AffineMap written() { return op_.getMatchingIndexingMap(op_.getDpsInitOperand(0)); }
  Value index(int64_t number) { return builder_.create<arith::ConstantIndexOp>(location_, number); }

  // The loops' numbers of a point; that of the rows stays empty.
  llvm::SmallVector<Value> point_of(Value number, llvm::ArrayRef<unsigned> order, llvm::ArrayRef<Value> sizes) {
    llvm::SmallVector<Value> point(op_.getNumLoops());
    for (const auto& [loop, digit] : llvm::zip_equal(order, split(builder_, location_, number, sizes))) {
      point[loop] = digit;
    }
    return point;
  }

  llvm::SmallVector<Value> at(mlir::AffineMap map, llvm::ArrayRef<Value> point) {
    llvm::SmallVector<Value> indices;
    for (const AffineExpr each : map.getResults()) {
      indices.push_back(point[llvm::cast<mlir::AffineDimExpr>(each).getPosition()]);
    }
    return indices;
  }

  void write_update(llvm::SmallVector<Value> point) {
    mlir::IRMapping values;
    for (mlir::OpOperand* input : op_.getDpsInputOperands()) {
      if (!op_.payloadUsesValueFromOperand(input)) continue;
      if (!llvm::isa<mlir::RankedTensorType>(input->get().getType())) {
        values.map(op_.getMatchingBlockArgument(input), input->get());
        continue;
      }
      values.map(
          op_.getMatchingBlockArgument(input),
          builder_.create<tensor::ExtractOp>(location_, input->get(), at(op_.getMatchingIndexingMap(input), point)));
    }
    clone_for(scatter_.land, point, values);
    const Value land = as_index(values.lookupOrDefault(scatter_.land));
    const Value rows = builder_.create<mlir::memref::DimOp>(
        location_, memory_, *written().getResultPosition(mlir::getAffineDimExpr(scatter_.row, op_.getContext())));
    const Value is_inside = builder_.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ult, land, rows);
    auto branch = builder_.create<scf::IfOp>(location_, is_inside);
    builder_ = branch.getThenBodyBuilder();
    point[scatter_.row] = land;
    const llvm::SmallVector<Value> place = at(written(), point);
    const Value so_far = op_.getBody()->getArguments().back();
    if (!scatter_.combiner && !so_far.hasOneUse()) {
      values.map(so_far, builder_.create<mlir::memref::LoadOp>(location_, memory_, place).getResult());
    }
    clone_for(scatter_.value, point, values);
    const Value value = values.lookupOrDefault(scatter_.value);
    if (scatter_.combiner) {
      builder_.create<mlir::memref::AtomicRMWOp>(location_, *scatter_.combiner, value, memory_, place);
    } else {
      builder_.create<mlir::memref::StoreOp>(location_, value, memory_, place);
    }
  }

  Value as_index(Value land) {
    if (land.getType().isIndex()) return land;
    const mlir::Type type = builder_.getIndexType();
    return scatter_.is_land_unsigned ? builder_.create<arith::IndexCastUIOp>(location_, type, land).getResult()
                                     : builder_.create<arith::IndexCastOp>(location_, type, land).getResult();
  }

  // What the body computes `value` from.
  void clone_for(Value value, llvm::ArrayRef<Value> point, mlir::IRMapping& values) {
    mlir::Operation* op = value.getDefiningOp();
    if (!op || op->getBlock() != op_.getBody() || values.contains(value)) return;
    op->walk([&](mlir::Operation* inner) {
      for (const Value operand : inner->getOperands()) clone_for(operand, point, values);
    });
    if (auto loop = llvm::dyn_cast<linalg::IndexOp>(op)) {
      values.map(value, point[static_cast<size_t>(loop.getDim())]);
    } else {
      builder_.clone(*op, values);
    }
  }

  const Scatter& scatter_;
  linalg::GenericOp op_;
  Value memory_;
  OpBuilder builder_;
  Location location_;
  bool gathers_ = false;
  Value neutral_;
};

}  // namespace

std::optional<Scatter> find_scatter(linalg::GenericOp op) { return Matcher(op).match(); }

mlir::FailureOr<mlir::AffineMap> make_scatter_kernel(mlir::func::FuncOp kernel, const Destination& destination,
                                                     ArgumentSizes sizes_of, unsigned symbol_count) {
  hold_indices_inside(kernel);
  mlir::bufferization::MaterializeInDestinationOp write = destination.write;
  auto op = write.getSource().getDefiningOp<linalg::GenericOp>();
  const std::optional<Scatter> scatter = op ? find_scatter(op) : std::nullopt;
  if (!scatter) return kernel.emitError("The kernel is no scatter.");
  KernelWriter writer(*scatter, write.getDest());
  AffineExpr count = mlir::getAffineConstantExpr(1, kernel.getContext());
  for (const unsigned loop : writer.loops()) {
    const auto [operand, dimension] = writer.dimension_of(loop);
    const llvm::SmallVector<AffineExpr> sizes = op.isDpsInit(operand) ? destination.sizes : sizes_of(operand->get());
    if (dimension >= sizes.size()) return kernel.emitError("A size of the scatter is unknown.");
    count = count * sizes[dimension];
  }
  const auto known = llvm::dyn_cast<mlir::AffineConstantExpr>(count);
  const int64_t elements = writer.elements(known ? std::optional(known.getValue()) : std::nullopt);
  writer.write(elements);
  write.erase();
  op.erase();
  kernel->setAttr("workgroup_size", OpBuilder(kernel).getIndexArrayAttr({kThreads, 1, 1}));
  return make_grid(kernel.getContext(), count.ceilDiv(static_cast<uint64_t>(elements)), symbol_count);
}

}  // namespace baton::compiler_lite::codegen
