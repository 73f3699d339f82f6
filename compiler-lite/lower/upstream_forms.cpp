// What other compilers' frontends write around tensors, torch-mlir's among them: globals of ml_program, assertions inside of
// bodies, and sizes of dimensions that only data name.
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
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
void lower_dim(tensor::DimOp op) {
  const auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
  if (!type || type.getRank() == 0 || op.getConstantIndex()) return;
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
}

LogicalResult lower(Operation* op) {
  if (auto each = dyn_cast<ml_program::GlobalOp>(op)) return lower_global(each);
  if (auto each = dyn_cast<ml_program::GlobalLoadOp>(op)) return lower_load(op, each.getGlobal(), {});
  if (auto each = dyn_cast<ml_program::GlobalLoadConstOp>(op)) {
    return lower_load(op, each.getGlobal(), UnitAttr::get(op->getContext()));
  }
  if (auto each = dyn_cast<ml_program::GlobalStoreOp>(op)) return lower_store(each);
  if (isa<ml_program::MLProgramDialect>(op->getDialect())) return refuse(op, "func.func with ml_program's globals");
  if (auto each = dyn_cast<tensor::DimOp>(op)) lower_dim(each);
  if (isa<cf::AssertOp>(op) && is_in_body(op)) op->erase();
  return success();
}

}  // namespace

LogicalResult unify_upstream_forms(ModuleOp module) {
  SmallVector<Operation*> found;
  module.walk<WalkOrder::PreOrder>([&](Operation* op) {
    const bool is_program = isa_and_nonnull<ml_program::MLProgramDialect>(op->getDialect());
    if (is_program || isa<tensor::DimOp, cf::AssertOp>(op)) found.push_back(op);
  });
  for (Operation* op : found) {
    if (failed(lower(op))) return failure();
  }
  return success();
}

}  // namespace baton::compiler_lite::lower
