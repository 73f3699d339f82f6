#include "compiler-lite/codegen/index_checks.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

constexpr llvm::StringLiteral kInside = "baton.inside", kPart = "baton.part";

bool is_marked(tensor::ExtractOp extract, unsigned dimension) {
  const auto marks = extract->getAttrOfType<mlir::DenseBoolArrayAttr>(kInside);
  return marks && dimension < marks.size() && marks[dimension];
}

// Who marked it has also seen that there is something to read.
bool may_be_empty(tensor::ExtractOp extract) {
  return !extract->hasAttr(kInside) && !extract.getTensor().getType().hasStaticShape();
}

// Constants, and loops whose size is known.
bool is_inside(tensor::ExtractOp extract, linalg::LinalgOp op, unsigned dimension) {
  if (is_marked(extract, dimension)) return true;
  const mlir::RankedTensorType type = extract.getTensor().getType();
  if (type.isDynamicDim(dimension)) return false;
  const int64_t size = type.getDimSize(dimension);
  const Value index = extract.getIndices()[dimension];
  if (const auto known = mlir::getConstantIntValue(index)) return *known >= 0 && *known < size;
  auto loop = index.getDefiningOp<linalg::IndexOp>();
  if (!loop || loop->getParentOp() != op) return false;
  const int64_t extent = op.getStaticLoopRanges()[static_cast<size_t>(loop.getDim())];
  return !mlir::ShapedType::isDynamic(extent) && extent <= size;
}

// Sizes are asked for outside of the body.
Value size_of(linalg::LinalgOp op, Value tensor, unsigned dimension) {
  OpBuilder builder(op);
  const Location location = op.getLoc();
  return mlir::getValueOrCreateConstantIndexOp(builder, location,
                                               tensor::getMixedSize(builder, location, tensor, dimension));
}

Value hold(OpBuilder& builder, Location location, Value index, Value size) {
  const Value zero = builder.create<arith::ConstantIndexOp>(location, 0);
  const Value one = builder.create<arith::ConstantIndexOp>(location, 1);
  const Value last = builder.createOrFold<arith::SubIOp>(location, size, one);
  const Value low = builder.createOrFold<arith::MaxSIOp>(location, index, zero);
  return builder.createOrFold<arith::MinSIOp>(location, low, last);
}

// Reads nothing where an index is outside.
void guard(tensor::ExtractOp extract, llvm::ArrayRef<std::pair<unsigned, Value>> sizes) {
  OpBuilder builder(extract);
  const Location location = extract.getLoc();
  Value inside;
  for (const auto& [dimension, size] : sizes) {
    const Value index = extract.getIndices()[dimension];
    const Value fits = builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::ult, index, size);
    inside = inside ? builder.create<arith::AndIOp>(location, inside, fits).getResult() : fits;
  }
  auto choice = builder.create<mlir::scf::IfOp>(location, extract.getType(), inside, /*withElseRegion=*/true);
  extract.replaceAllUsesWith(choice.getResult(0));
  OpBuilder then = choice.getThenBodyBuilder(), otherwise = choice.getElseBodyBuilder();
  extract->moveBefore(choice.thenBlock(), choice.thenBlock()->end());
  then.setInsertionPointToEnd(choice.thenBlock());
  then.create<mlir::scf::YieldOp>(location, extract.getResult());
  const Value zero = otherwise.create<arith::ConstantOp>(location, otherwise.getZeroAttr(extract.getType()));
  otherwise.create<mlir::scf::YieldOp>(location, zero);
}

void hold_inside(tensor::ExtractOp extract, linalg::LinalgOp op) {
  SmallVector<std::pair<unsigned, Value>> sizes;
  for (unsigned d = 0; d < extract.getIndices().size(); ++d) {
    if (!is_inside(extract, op, d)) sizes.push_back({d, size_of(op, extract.getTensor(), d)});
  }
  const bool is_conditional = extract->getParentOp() != op || may_be_empty(extract);
  mark_inside(extract);
  if (sizes.empty()) return;
  if (is_conditional && !llvm::isa<mlir::ComplexType>(extract.getType())) return guard(extract, sizes);
  OpBuilder builder(extract);
  for (const auto& [dimension, size] : sizes) {
    mlir::OpOperand& index = extract.getIndicesMutable()[dimension];
    index.set(hold(builder, extract.getLoc(), index.get(), size));
  }
}

}  // namespace

void mark_inside(tensor::ExtractOp extract, llvm::ArrayRef<bool> inside) {
  extract->setAttr(kInside, mlir::DenseBoolArrayAttr::get(extract.getContext(), inside));
}
void mark_inside(tensor::ExtractOp extract) {
  mark_inside(extract, SmallVector<bool>(extract.getIndices().size(), true));
}

void mark_part(tensor::ExtractOp extract) {
  mark_inside(extract);
  extract->setAttr(kPart, mlir::UnitAttr::get(extract.getContext()));
}
bool is_part(tensor::ExtractOp extract) { return extract->hasAttr(kPart); }

void forget_marks(tensor::ExtractOp extract) {
  extract->removeAttr(kInside);
  extract->removeAttr(kPart);
}

void hold_indices_inside(mlir::func::FuncOp kernel) {
  SmallVector<std::pair<tensor::ExtractOp, linalg::LinalgOp>> found;
  kernel.walk([&](tensor::ExtractOp extract) {
    auto op = extract->getParentOfType<linalg::LinalgOp>();
    if (op && !op->isAncestor(extract.getTensor().getParentBlock()->getParentOp())) found.push_back({extract, op});
  });
  for (const auto& [extract, op] : found) hold_inside(extract, op);
}

}  // namespace baton::compiler_lite::codegen
