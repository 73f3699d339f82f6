#include "compiler-lite/codegen/cuda/elementwise.hpp"

#include "compiler-lite/codegen/cuda/points.hpp"
#include "compiler-lite/codegen/llvm_values.hpp"
#include "compiler-lite/codegen/loops.hpp"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace baton::compiler_lite::codegen::cuda {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace LLVM = mlir::LLVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

constexpr unsigned kAccessBits = 128;

// Elements through memory of whole bytes, as integers where vectors of the type itself are rare.
mlir::Type stored_type(mlir::Type element) {
  if (element.isF32() || element.isF64()) return element;
  return mlir::IntegerType::get(element.getContext(), std::max(8u, element.getIntOrFloatBitWidth()));
}

// How an operand is read while one loop makes a step.
enum class Step { kSame, kNext, kElsewhere };

Step step_of(linalg::GenericOp op, mlir::OpOperand& operand, unsigned loop) {
  const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
  const auto type = llvm::dyn_cast<mlir::MemRefType>(operand.get().getType());
  if (!type || !map.isFunctionOfDim(loop)) return Step::kSame;
  for (unsigned i = 0; i + 1 < map.getNumResults(); ++i) {
    if (map.getResult(i).isFunctionOfDim(loop)) return Step::kElsewhere;
  }
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  const bool contiguous = mlir::succeeded(mlir::getStridesAndOffset(type, strides, offset)) && strides.back() == 1;
  const bool next = map.getResults().back() == mlir::getAffineDimExpr(loop, map.getContext());
  return contiguous && next && type.getElementType().isIntOrFloat() ? Step::kNext : Step::kElsewhere;
}

// How many elements a thread takes at once along `loop`; 1: the operation is none for vectors.
int64_t lanes_of(linalg::GenericOp op, unsigned loop) {
  unsigned widest = 8;
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    const Step step = step_of(op, operand, loop);
    if (step == Step::kElsewhere || (step == Step::kSame && op.isDpsInit(&operand))) return 1;
    if (step == Step::kSame) continue;
    const mlir::Type element = mlir::getElementTypeOrSelf(operand.get().getType());
    widest = std::max(widest, stored_type(element).getIntOrFloatBitWidth());
  }
  return kAccessBits / widest;
}

class Vectors {
 public:
  Vectors(OpBuilder& builder, linalg::GenericOp op, unsigned loop, int64_t lanes)
      : op_(op), location_(op.getLoc()), types_(builder.getContext()), loop_(loop), lanes_(lanes) {
    for (mlir::OpOperand& operand : op->getOpOperands()) bases_.push_back(base_of(builder, operand));
  }

  // Which of the results an operand is.
  size_t result_of(mlir::OpOperand& operand) {
    return operand.getOperandNumber() - static_cast<size_t>(op_.getNumDpsInputs());
  }

  // Whether all addresses are multiples of their access.
  Value are_aligned(OpBuilder& builder) {
    Value rest = make_i64(builder, location_, 0);
    for (mlir::OpOperand& operand : op_->getOpOperands()) {
      const Value base = bases_[operand.getOperandNumber()];
      if (!base) continue;
      Value bits = builder.create<LLVM::PtrToIntOp>(location_, builder.getI64Type(), base);
      const auto rows = llvm::ArrayRef<Value>(strides_[operand.getOperandNumber()]).drop_back();
      const Value bytes = make_i64(builder, location_, access_bytes(operand) / lanes_);
      for (const Value stride : rows) {
        bits = builder.create<LLVM::OrOp>(location_, bits, builder.create<LLVM::MulOp>(location_, stride, bytes));
      }
      const Value mask = make_i64(builder, location_, access_bytes(operand) - 1);
      rest = builder.create<LLVM::OrOp>(location_, rest, builder.create<LLVM::AndOp>(location_, bits, mask));
    }
    return builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, rest, make_i64(builder, location_, 0));
  }

  // The elements from `point` on.
  void write(OpBuilder& builder, const Values& point) {
    Values vectors(bases_.size());
    for (mlir::OpOperand& operand : op_->getOpOperands()) {
      if (!op_.payloadUsesValueFromOperand(&operand) || !bases_[operand.getOperandNumber()]) continue;
      vectors[operand.getOperandNumber()] = builder.create<LLVM::LoadOp>(
          location_, vector_type(operand), address(builder, operand, point), access_bytes(operand));
    }
    Values results(static_cast<size_t>(op_.getNumDpsInits()));
    for (int64_t lane = 0; lane < lanes_; ++lane) write_lane(builder, point, lane, vectors, results);
    for (mlir::OpOperand& operand : op_.getDpsInitsMutable()) {
      builder.create<LLVM::StoreOp>(location_, results[result_of(operand)], address(builder, operand, point),
                                    access_bytes(operand));
    }
  }

 private:
  mlir::Type element(mlir::OpOperand& operand) const { return mlir::getElementTypeOrSelf(operand.get().getType()); }
  mlir::VectorType vector_type(mlir::OpOperand& operand) const {
    return mlir::VectorType::get({lanes_}, stored_type(element(operand)));
  }
  unsigned access_bytes(mlir::OpOperand& operand) const {
    return static_cast<unsigned>(lanes_) * stored_type(element(operand)).getIntOrFloatBitWidth() / 8;
  }

  // Where the elements begin, and the memory's strides; null for what isn't read element by element.
  Value base_of(OpBuilder& builder, mlir::OpOperand& operand) {
    Values& strides = strides_.emplace_back();
    if (step_of(op_, operand, loop_) != Step::kNext) return {};
    const auto type = llvm::cast<mlir::MemRefType>(operand.get().getType());
    mlir::MemRefDescriptor memory(cast(builder, location_, operand.get(), types_.convertType(type)));
    for (unsigned i = 0; i < type.getRank(); ++i) strides.push_back(memory.stride(builder, location_, i));
    const Value pointer = memory.alignedPtr(builder, location_);
    return builder.create<LLVM::GEPOp>(location_, pointer.getType(), stored_type(type.getElementType()), pointer,
                                       mlir::ValueRange{memory.offset(builder, location_)});
  }

  Value address(OpBuilder& builder, mlir::OpOperand& operand, const Values& point) {
    const Value base = bases_[operand.getOperandNumber()];
    const Values& strides = strides_[operand.getOperandNumber()];
    const Values at = indices(builder, op_, operand, point);
    Value offset = cast(builder, location_, at.back(), builder.getI64Type());
    for (size_t i = 0; i + 1 < at.size(); ++i) {
      const Value index = cast(builder, location_, at[i], builder.getI64Type());
      const Value rows = builder.create<LLVM::MulOp>(location_, index, strides[i]);
      offset = builder.create<LLVM::AddOp>(location_, offset, rows);
    }
    return builder.create<LLVM::GEPOp>(location_, base.getType(), stored_type(element(operand)), base,
                                       mlir::ValueRange{offset});
  }

  void write_lane(OpBuilder& builder, Values point, int64_t lane, llvm::ArrayRef<Value> vectors,
                  llvm::MutableArrayRef<Value> results) {
    const Value position = make_i32(builder, location_, lane);
    const Value offset = builder.create<arith::ConstantIndexOp>(location_, lane);
    point[loop_] = builder.create<arith::AddIOp>(location_, point[loop_], offset);
    Values operands;
    for (mlir::OpOperand& operand : op_->getOpOperands()) {
      const Value vector = vectors[operand.getOperandNumber()];
      if (!op_.payloadUsesValueFromOperand(&operand)) {
        const mlir::Type type = element(operand);
        operands.push_back(builder.create<arith::ConstantOp>(location_, type, builder.getZeroAttr(type)));
      } else if (!vector) {
        operands.push_back(load(builder, op_, operand, point));
      } else {
        const Value stored = builder.create<LLVM::ExtractElementOp>(location_, vector, position);
        operands.push_back(from_stored(builder, stored, element(operand)));
      }
    }
    const Values yielded = compute(builder, op_, point, operands);
    for (mlir::OpOperand& operand : op_.getDpsInitsMutable()) {
      Value& result = results[result_of(operand)];
      const Value value = yielded[result_of(operand)];
      if (!result) result = builder.create<LLVM::UndefOp>(location_, vector_type(operand));
      result = builder.create<LLVM::InsertElementOp>(location_, result, to_stored(builder, value), position);
    }
  }

  Value from_stored(OpBuilder& builder, Value value, mlir::Type type) {
    if (value.getType() == type) return value;
    if (llvm::isa<mlir::IntegerType>(type)) return builder.create<arith::TruncIOp>(location_, type, value);
    return builder.create<arith::BitcastOp>(location_, type, value);
  }
  Value to_stored(OpBuilder& builder, Value value) {
    const mlir::Type type = stored_type(value.getType());
    if (value.getType() == type) return value;
    if (llvm::isa<mlir::IntegerType>(value.getType())) return builder.create<arith::ExtUIOp>(location_, type, value);
    return builder.create<arith::BitcastOp>(location_, type, value);
  }

  linalg::GenericOp op_;
  Location location_;
  mlir::LLVMTypeConverter types_;
  unsigned loop_;
  int64_t lanes_;
  Values bases_;
  llvm::SmallVector<Values> strides_;
};

// The loops of an operation in the order in which threads take points, the best one for that the fastest.
class Order {
 public:
  explicit Order(linalg::GenericOp op) : loops_(llvm::to_vector(llvm::seq(0u, op.getNumLoops()))) {
    if (loops_.empty()) return;
    const unsigned fastest = best_innermost(op, loops_);
    llvm::erase(loops_, fastest);
    loops_.push_back(fastest);
  }

  unsigned fastest() const { return loops_.back(); }
  bool is_single_point() const { return loops_.empty(); }

  Value count_rows(OpBuilder& builder, Location location, const Values& sizes) const {
    Values rows;
    for (const unsigned loop : llvm::ArrayRef(loops_).drop_back()) rows.push_back(sizes[loop]);
    return product(builder, location, rows);
  }

  // The point with this number, where the fastest loop has `width` steps.
  Values point(OpBuilder& builder, Location location, Value number, const Values& sizes, Value width) const {
    Values ordered;
    for (const unsigned loop : loops_) ordered.push_back(sizes[loop]);
    ordered.back() = width;
    const Values digits = split(builder, location, number, ordered);
    Values point(loops_.size());
    for (size_t i = 0; i < loops_.size(); ++i) point[loops_[i]] = digits[i];
    return point;
  }

 private:
  llvm::SmallVector<unsigned> loops_;
};

void write_point(OpBuilder& builder, linalg::GenericOp op, const Values& point) {
  store(builder, op, point, compute_loaded(builder, op, point));
}

}  // namespace

void lower_elementwise(OpBuilder& builder, linalg::GenericOp op, Block& block) {
  const Location location = op.getLoc();
  const Order order(op);
  if (order.is_single_point()) {
    return block.by_one(builder, location, [&](OpBuilder& inside) { write_point(inside, op, {}); });
  }
  const auto multiply = [&](OpBuilder& at, Value a, Value b) { return at.createOrFold<arith::MulIOp>(location, a, b); };
  const Values sizes = loop_sizes(builder, op);
  const Value rows = order.count_rows(builder, location, sizes);
  const Value zero = builder.create<arith::ConstantIndexOp>(location, 0);
  const int64_t lanes = lanes_of(op, order.fastest());
  Value done = zero, rest = sizes[order.fastest()];  // Of each row.
  if (lanes > 1) {
    Vectors vectors(builder, op, order.fastest(), lanes);
    const Value width = builder.create<arith::ConstantIndexOp>(location, lanes);
    const Value whole = builder.createOrFold<arith::DivUIOp>(location, rest, width);
    const Value groups = builder.create<arith::SelectOp>(location, vectors.are_aligned(builder), whole, zero);
    block.strided(builder, location, multiply(builder, rows, groups), [&](OpBuilder& inside, Value number) {
      Values point = order.point(inside, location, number, sizes, groups);
      point[order.fastest()] = multiply(inside, point[order.fastest()], width);
      vectors.write(inside, point);
    });
    done = multiply(builder, groups, width);
    rest = builder.create<arith::SubIOp>(location, rest, done);
  }
  block.strided(builder, location, multiply(builder, rows, rest), [&](OpBuilder& inside, Value number) {
    Values point = order.point(inside, location, number, sizes, rest);
    point[order.fastest()] = inside.createOrFold<arith::AddIOp>(location, point[order.fastest()], done);
    write_point(inside, op, point);
  });
}

}  // namespace baton::compiler_lite::codegen::cuda
