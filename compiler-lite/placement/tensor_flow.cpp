#include "compiler-lite/placement/tensor_flow.hpp"

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace baton::compiler_lite::placement {
namespace {

using llvm::SmallVector;
using mlir::Operation;
using mlir::OpOperand;
using mlir::Value;

bool is_tensor(Value value) { return llvm::isa<mlir::TensorType>(value.getType()); }

void pair_up(Operation* op, mlir::OperandRange operands, mlir::ValueRange targets, SmallVector<Handover>& out) {
  if (operands.empty()) return;
  for (const auto [number, target] : llvm::enumerate(targets.take_front(operands.size()))) {
    OpOperand& operand = op->getOpOperand(operands.getBeginOperandIndex() + static_cast<unsigned>(number));
    if (is_tensor(operand.get())) out.push_back({&operand, target});
  }
}

void add_branches(mlir::BranchOpInterface branch, SmallVector<Handover>& out) {
  for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
    const mlir::SuccessorOperands operands = branch.getSuccessorOperands(i);
    mlir::Block* const target = branch->getSuccessor(i);
    for (unsigned j = operands.getProducedOperandCount(); j < operands.size(); ++j) {
      OpOperand& operand = branch->getOpOperand(operands.getOperandIndex(j));
      if (is_tensor(operand.get())) out.push_back({&operand, target->getArgument(j)});
    }
  }
}

void add_entries(mlir::RegionBranchOpInterface op, SmallVector<Handover>& out) {
  SmallVector<mlir::RegionSuccessor> successors;
  op.getSuccessorRegions(mlir::RegionBranchPoint::parent(), successors);
  for (const mlir::RegionSuccessor& each : successors) {
    pair_up(op, op.getEntrySuccessorOperands(each), each.getSuccessorInputs(), out);
  }
}

void add_ends(mlir::RegionBranchTerminatorOpInterface end, SmallVector<Handover>& out) {
  SmallVector<mlir::RegionSuccessor> successors;
  const SmallVector<mlir::Attribute> unknown(end->getNumOperands());
  end.getSuccessorRegions(unknown, successors);
  for (const mlir::RegionSuccessor& each : successors) {
    pair_up(end, end.getSuccessorOperands(each), each.getSuccessorInputs(), out);
  }
}

}  // namespace

SmallVector<Handover> handovers_of(Operation* op) {
  SmallVector<Handover> handovers;
  if (llvm::isa<hal::TensorBarrierOp, util::OptimizationBarrierOp>(op)) {
    for (const mlir::OpResult result : op->getResults()) {
      if (is_tensor(result)) handovers.push_back({&op->getOpOperand(result.getResultNumber()), result});
    }
  } else if (auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(op)) {
    add_branches(branch, handovers);
  } else if (is_control_flow(op)) {
    add_entries(llvm::cast<mlir::RegionBranchOpInterface>(op), handovers);
  } else if (op->getParentOp() && is_control_flow(op->getParentOp())) {
    if (auto end = llvm::dyn_cast<mlir::RegionBranchTerminatorOpInterface>(op)) add_ends(end, handovers);
  }
  return handovers;
}

bool is_control_flow(Operation* op) {
  return llvm::isa<mlir::scf::ForOp, mlir::scf::WhileOp, mlir::scf::IfOp, mlir::scf::IndexSwitchOp,
                   mlir::scf::ExecuteRegionOp>(op);
}

bool only_hands_on(Operation* op) {
  return llvm::isa<hal::TensorBarrierOp, util::OptimizationBarrierOp>(op) || is_control_flow(op) ||
         op->hasTrait<mlir::OpTrait::IsTerminator>();
}

SmallVector<OpOperand*> tensors_taken(Operation* op) {
  SmallVector<OpOperand*> taken;
  op->walk([&](Operation* inner) {
    for (OpOperand& operand : inner->getOpOperands()) {
      if (!is_tensor(operand.get())) continue;
      mlir::Region* const defined_in = operand.get().getParentRegion();
      if (!op->isAncestor(defined_in->getParentOp())) taken.push_back(&operand);
    }
  });
  return taken;
}

bool is_made_anywhere(Operation* op, llvm::function_ref<bool(Value)> floats) {
  if (only_hands_on(op) || op->getNumResults() == 0 || !llvm::all_of(op->getResults(), is_tensor)) return false;
  const bool repeatable = mlir::isMemoryEffectFree(op) || llvm::isa<util::UnfoldableConstantOp, flow::DispatchOp>(op);
  if (!repeatable || llvm::isa<mlir::CallOpInterface, flow::CallOp, hal::TensorImportOp, hal::TensorAliasOp,
                               flow::TensorTransferOp, util::GlobalLoadOp>(op)) {
    return false;
  }
  return llvm::all_of(tensors_taken(op), [&](OpOperand* each) { return floats(each->get()); });
}

}  // namespace baton::compiler_lite::placement
