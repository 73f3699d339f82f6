#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

// Blocks may stand there.
bool stands_in_function(scf::IfOp op) { return isa<util::FuncOp, util::InitializerOp>(op->getParentOp()); }

// The region's block in front of `rest`, where it goes on; `rest` itself for a region without one.
Block* move_before(Block* rest, Region& region) {
  if (region.empty()) return rest;
  Block* const block = &region.front();
  Operation* const yield = block->getTerminator();
  OpBuilder(yield).create<cf::BranchOp>(yield->getLoc(), rest, yield->getOperands());
  yield->erase();
  block->moveBefore(rest);
  return block;
}

void lower_branch(scf::IfOp op) {
  Block* const begin = op->getBlock();
  Block* const rest = begin->splitBlock(std::next(op->getIterator()));
  for (Value result : op.getResults()) {
    result.replaceAllUsesWith(rest->addArgument(result.getType(), result.getLoc()));
  }
  Block* const held = move_before(rest, op.getThenRegion());
  Block* const not_held = move_before(rest, op.getElseRegion());
  OpBuilder(op).create<cf::CondBranchOp>(op.getLoc(), op.getCondition(), held, not_held);
  op.erase();
}

}  // namespace

void host_branches(ModuleOp module) {
  SmallVector<scf::IfOp> branches;
  module.walk([&](scf::IfOp op) { branches.push_back(op); });
  // What stands inside of another comes behind it, and the last ones of a block come first: each cuts off what stands
  // between it and the next one.
  for (scf::IfOp op : llvm::reverse(branches)) {
    if (stands_in_function(op)) lower_branch(op);
  }
}

}  // namespace baton::compiler_lite::lower
