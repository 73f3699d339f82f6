// What other compilers' frontends write around tensors, torch-mlir's among them: globals of ml_program, assertions inside of
// bodies, and sizes of dimensions that only data name.
#include "compiler-lite/dialects/check/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "compiler-lite/lower/number_like.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

LogicalResult refuse(Operation* op, const Twine& instead) {
  return emitError(op->getLoc()) << op->getName() << " is not lowered; " << instead << " is.";
}

// The name in this module, which a nested reference is not.
FailureOr<FlatSymbolRefAttr> name_of(Operation* op, SymbolRefAttr symbol) {
  if (const auto flat = dyn_cast<FlatSymbolRefAttr>(symbol)) return flat;
  return refuse(op, "a global of the program's own module");
}

LogicalResult lower_global(ml_program::GlobalOp op) {
  const Attribute value = op.getValueAttr();
  if (isa_and_nonnull<ml_program::ExternAttr>(value)) return refuse(op, "one with its value");
  OpBuilder builder(op);
  builder.create<util::GlobalOp>(op.getLoc(), op.getSymNameAttr(), builder.getStringAttr("private"),
                                 op.getIsMutableAttr(), op.getTypeAttr(), value);
  op.erase();
  return success();
}

LogicalResult lower_load(Operation* op, SymbolRefAttr symbol, UnitAttr is_immutable) {
  const FailureOr<FlatSymbolRefAttr> name = name_of(op, symbol);
  if (failed(name)) return failure();
  OpBuilder builder(op);
  auto load = builder.create<util::GlobalLoadOp>(op->getLoc(), op->getResult(0).getType(), is_immutable, *name);
  op->replaceAllUsesWith(load->getResults());
  op->erase();
  return success();
}

LogicalResult lower_store(ml_program::GlobalStoreOp op) {
  const FailureOr<FlatSymbolRefAttr> name = name_of(op, op.getGlobal());
  if (failed(name)) return failure();
  OpBuilder(op).create<util::GlobalStoreOp>(op.getLoc(), op.getValue(), *name);
  op.erase();
  return success();
}

bool is_in_body(Operation* op) {
  return op->getParentOfType<linalg::LinalgOp>() || op->getParentOfType<tensor::GenerateOp>() ||
         op->getParentOfType<tensor::PadOp>();
}

// The size of a dimension is chosen from all that the tensor has.
LogicalResult lower_dim(tensor::DimOp op) {
  const auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
  if (!type || type.getRank() == 0 || op.getConstantIndex()) return success();
  OpBuilder builder(op);
  const Location where = op.getLoc();
  Value size = builder.createOrFold<tensor::DimOp>(where, op.getSource(), 0);
  for (int64_t d = 1; d < type.getRank(); ++d) {
    const Value this_one = builder.create<arith::CmpIOp>(where, arith::CmpIPredicate::eq, op.getIndex(),
                                                         builder.create<arith::ConstantIndexOp>(where, d));
    const Value its_size = builder.createOrFold<tensor::DimOp>(where, op.getSource(), d);
    size = builder.create<arith::SelectOp>(where, this_one, its_size, size);
  }
  op.replaceAllUsesWith(size);
  op.erase();
  return success();
}

// Tensors say what memory holds; bufferization's words for where it lies are the tensors themselves.
LogicalResult lower_bufferization(Operation* op) {
  OpBuilder builder(op);
  if (auto made = dyn_cast<bufferization::AllocTensorOp>(op)) {
    const auto type = dyn_cast<RankedTensorType>(made.getType());
    if (!type) return refuse(op, "one that makes a tensor with a rank");
    Value like = made.getCopy();
    if (!like) like = builder.create<tensor::EmptyOp>(op->getLoc(), type, made.getDynamicSizes());
    made.replaceAllUsesWith(like);
  } else if (auto into = dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
    if (op->getNumResults() == 0) return refuse(op, "one whose destination is a tensor");
    op->getResult(0).replaceAllUsesWith(into.getSource());
  } else if (!isa<bufferization::DeallocTensorOp>(op)) {
    return success();
  }
  op->erase();
  return success();
}

bool is_later_math(Operation* op) {
  const StringRef name = op->getName().getStringRef();
  return name == "math.isinf" || name == "math.isfinite" || name == "math.isnormal" || name == "math.sincos";
}

LogicalResult lower_later_math(Operation* op) {
  const StringRef name = op->getName().stripDialect();
  const Location where = op->getLoc();
  const Value x = op->getOperand(0);
  OpBuilder builder(op);
  if (name == "sincos") {
    op->getResult(0).replaceAllUsesWith(builder.create<math::SinOp>(where, x).getResult());
    op->getResult(1).replaceAllUsesWith(builder.create<math::CosOp>(where, x).getResult());
    op->erase();
    return success();
  }
  auto element = cast<FloatType>(getElementTypeOrSelf(x.getType()));
  const llvm::fltSemantics& kind = element.getFloatSemantics();
  const Value magnitude = builder.create<math::AbsFOp>(where, x);
  const auto compare = [&](arith::CmpFPredicate how, const APFloat& number) -> Value {
    return builder.create<arith::CmpFOp>(where, how, magnitude,
                                         number_like(builder, where, x, builder.getFloatAttr(element, number)));
  };
  using arith::CmpFPredicate;
  Value answer = compare(name == "isinf" ? CmpFPredicate::OEQ : CmpFPredicate::OLT, APFloat::getInf(kind));
  if (name == "isnormal") {
    const Value is_large = compare(CmpFPredicate::OGE, APFloat::getSmallestNormalized(kind));
    answer = builder.create<arith::AndIOp>(where, answer, is_large);
  }
  op->getResult(0).replaceAllUsesWith(answer);
  op->erase();
  return success();
}

// Integers that no view has are compared as the next wider ones.
LogicalResult widen_check(Operation* op) {
  for (OpOperand& operand : op->getOpOperands()) {
    const auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    const auto narrow = type ? dyn_cast<IntegerType>(type.getElementType()) : IntegerType();
    if (!narrow || narrow.getWidth() == 1 || narrow.getWidth() > 63 || !narrow.isSignless()) continue;
    const unsigned width = std::max(8U, static_cast<unsigned>(llvm::PowerOf2Ceil(narrow.getWidth())));
    if (width == narrow.getWidth()) continue;
    OpBuilder builder(op);
    const Type wide = builder.getIntegerType(width);
    const auto wide_type = RankedTensorType::get(type.getShape(), wide);
    operand.set(builder.create<arith::ExtSIOp>(op->getLoc(), wide_type, operand.get()));
    if (const auto value = op->getAttrOfType<DenseIntElementsAttr>("value")) {
      op->setAttr("value", value.mapValues(wide, [&](const APInt& number) { return number.sext(width); }));
    }
  }
  return success();
}

LogicalResult lower(Operation* op) {
  if (isa<check::ExpectEqOp, check::ExpectEqConstOp>(op)) return widen_check(op);
  if (auto each = dyn_cast<ml_program::GlobalOp>(op)) return lower_global(each);
  if (auto each = dyn_cast<ml_program::GlobalLoadOp>(op)) return lower_load(op, each.getGlobal(), {});
  if (auto each = dyn_cast<ml_program::GlobalLoadConstOp>(op)) {
    return lower_load(op, each.getGlobal(), UnitAttr::get(op->getContext()));
  }
  if (auto each = dyn_cast<ml_program::GlobalStoreOp>(op)) return lower_store(each);
  if (isa<ml_program::MLProgramDialect>(op->getDialect())) return refuse(op, "func.func with ml_program's globals");
  if (auto each = dyn_cast<tensor::DimOp>(op)) return lower_dim(each);
  if (isa_and_nonnull<bufferization::BufferizationDialect>(op->getDialect())) return lower_bufferization(op);
  if (is_later_math(op)) return lower_later_math(op);
  if (auto each = dyn_cast<util::AssumeIntOp>(op)) {
    each->replaceAllUsesWith(each.getOperands());
    each->erase();
    return success();
  }
  if (isa<cf::AssertOp>(op) && is_in_body(op)) op->erase();
  return success();
}

}  // namespace

// The body of a later linalg.map takes what outs hold, too; one that reads it is no map to MLIR 19.
LogicalResult unify_maps(ModuleOp module) {
  SmallVector<linalg::MapOp> maps;
  module.walk([&](linalg::MapOp op) {
    Region& body = op.getMapper();
    if (body.hasOneBlock() && body.getNumArguments() == op.getInputs().size() + 1) maps.push_back(op);
  });
  for (linalg::MapOp op : maps) {
    Block& body = op.getMapper().front();
    if (!body.getArguments().back().use_empty()) return refuse(op, "linalg.generic, which reads what outs hold,");
    body.eraseArgument(body.getNumArguments() - 1);
  }
  return success();
}

LogicalResult unify_upstream_forms(ModuleOp module) {
  SmallVector<Operation*> found;
  module.walk<WalkOrder::PreOrder>([&](Operation* op) {
    const bool is_program = isa_and_nonnull<ml_program::MLProgramDialect>(op->getDialect());
    const bool is_memory = isa_and_nonnull<bufferization::BufferizationDialect>(op->getDialect());
    const bool is_other =
        isa<tensor::DimOp, cf::AssertOp, check::ExpectEqOp, check::ExpectEqConstOp, util::AssumeIntOp>(op);
    if (is_program || is_memory || is_later_math(op) || is_other) found.push_back(op);
  });
  for (Operation* op : found) {
    if (failed(lower(op))) return failure();
  }
  return success();
}

}  // namespace baton::compiler_lite::lower
