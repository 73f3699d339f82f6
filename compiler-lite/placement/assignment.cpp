#include "compiler-lite/placement/assignment.hpp"

#include <map>

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/placement/tensor_flow.hpp"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/RegionGraphTraits.h"

namespace baton::compiler_lite::placement {
namespace {

using llvm::SmallVector;
using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::OpOperand;
using mlir::success;
using mlir::Value;

bool is_tensor(Value value) { return llvm::isa<mlir::TensorType>(value.getType()); }

// Tensors that must be on one device, and the device that the program names for one of them.
class Companies {
 public:
  explicit Companies(const Devices& devices) : devices_(devices) {}

  LogicalResult say(Value tensor, unsigned number, Operation* op) {
    const auto [said, is_new] = said_.try_emplace(leader(tensor), number);
    return is_new || said->second == number ? success() : refuse(op, said->second, number);
  }

  LogicalResult join(Value a, Value b, Operation* op) {
    const Value to = leader(a), from = leader(b);
    if (to == from) return success();
    leaders_[from] = to;
    const auto said = said_.find(from);
    return said == said_.end() ? success() : say(to, said->second, op);
  }

  unsigned of(Value tensor) { return said_.lookup(leader(tensor)); }

 private:
  Value leader(Value tensor) {
    Value top = tensor;
    for (auto above = leaders_.find(top); above != leaders_.end(); above = leaders_.find(top)) top = above->second;
    if (top != tensor) leaders_[tensor] = top;
    return top;
  }

  LogicalResult refuse(Operation* op, unsigned a, unsigned b) {
    return op->emitOpError("needs one tensor on @") << devices_[a].name << " and on @" << devices_[b].name
                                                    << "; a flow.tensor.transfer between them says what goes where";
  }

  const Devices& devices_;
  llvm::DenseMap<Value, Value> leaders_;  // Those that lead themselves are not in it.
  llvm::DenseMap<Value, unsigned> said_;  // Of leaders.
};

// Where an operand must be: with another tensor, or on a device.
struct Want {
  Value with = {};
  unsigned number = 0;
};

// One function: first what doesn't float, then what does, behind those who use it.
class Function {
 public:
  Function(util::FuncOp function, const Devices& devices, llvm::DenseMap<Value, unsigned>& numbers)
      : function_(function), devices_(devices), companies_(devices), numbers_(numbers) {}

  LogicalResult run();

 private:
  void find_floating();
  LogicalResult look_at(Operation* op);
  LogicalResult look_at_work(Operation* op);
  LogicalResult look_at_call(util::CallOp call);
  LogicalResult want(OpOperand& use, Want wanted);
  LogicalResult say(Value tensor, unsigned number, Operation* op) { return companies_.say(tensor, number, op); }
  unsigned of_global(llvm::StringRef name);
  void write_down();
  void place_floating(Operation* op);
  unsigned wanted_by(OpOperand& use);

  util::FuncOp function_;
  const Devices& devices_;
  Companies companies_;
  llvm::DenseMap<Value, unsigned>& numbers_;
  llvm::DenseSet<Value> floating_;
  SmallVector<Operation*> floating_order_;
  llvm::DenseMap<OpOperand*, Want> wants_;  // Of what floats.
};

LogicalResult Function::run() {
  find_floating();
  for (const mlir::BlockArgument argument : function_.getBody().getArguments()) {
    if (!is_tensor(argument)) continue;
    const unsigned number = devices_.number_in(function_.getArgAttrDict(argument.getArgNumber()));
    if (failed(say(argument, number, function_))) return failure();
  }
  for (mlir::Block& block : function_.getBody()) {
    for (Operation& op : block) {
      if (failed(look_at(&op))) return failure();
    }
  }
  write_down();
  for (Operation* op : llvm::reverse(floating_order_)) place_floating(op);
  return success();
}

void Function::find_floating() {
  const auto floats = [&](Value tensor) { return floating_.contains(tensor); };
  for (mlir::Block* block : llvm::ReversePostOrderTraversal<mlir::Block*>(&function_.getBody().front())) {
    for (Operation& op : *block) {
      if (!is_made_anywhere(&op, floats)) continue;
      floating_.insert(op.result_begin(), op.result_end());
      floating_order_.push_back(&op);
    }
  }
}

unsigned Function::of_global(llvm::StringRef name) {
  Operation* global = function_->getParentOfType<mlir::ModuleOp>().lookupSymbol(name);
  return global ? devices_.number_in(global->getAttrDictionary()) : 0;
}

LogicalResult Function::want(OpOperand& use, Want wanted) {
  if (floating_.contains(use.get())) {
    wants_[&use] = wanted;
    return success();
  }
  if (!wanted.with) return say(use.get(), wanted.number, use.getOwner());
  return companies_.join(wanted.with, use.get(), use.getOwner());
}

LogicalResult Function::look_at(Operation* op) {
  for (const Handover& each : handovers_of(op)) {
    if (failed(want(*each.from, {each.to}))) return failure();
  }
  if (llvm::isa<util::ReturnOp>(op)) {
    for (OpOperand& operand : op->getOpOperands()) {
      const unsigned number = devices_.number_in(function_.getResultAttrDict(operand.getOperandNumber()));
      if (is_tensor(operand.get()) && failed(want(operand, {{}, number}))) return failure();
    }
  }
  if (only_hands_on(op) || llvm::isa<mlir::tensor::DimOp, hal::TensorExportOp>(op)) return success();
  if (auto transfer = llvm::dyn_cast<flow::TensorTransferOp>(op)) {
    if (failed(say(transfer.getResult(), devices_.number_of(transfer.getTarget()), op))) return failure();
    return want(op->getOpOperand(0), {{}, devices_.number_of(op->getAttr(kFrom))});
  }
  if (auto import = llvm::dyn_cast<hal::TensorImportOp>(op)) {
    return say(import.getTarget(), devices_.number_of(import.getAffinityAttr()), op);
  }
  if (auto load = llvm::dyn_cast<util::GlobalLoadOp>(op)) {
    return is_tensor(load.getResult()) ? say(load.getResult(), of_global(load.getGlobal()), op) : success();
  }
  if (auto store = llvm::dyn_cast<util::GlobalStoreOp>(op)) {
    return is_tensor(store.getValue()) ? want(op->getOpOperand(0), {{}, of_global(store.getGlobal())}) : success();
  }
  if (auto call = llvm::dyn_cast<util::CallOp>(op)) return look_at_call(call);
  return look_at_work(op);
}

LogicalResult Function::look_at_work(Operation* op) {
  const SmallVector<OpOperand*> taken = tensors_taken(op);
  Value first;
  for (const Value result : op->getResults()) {
    if (!first && is_tensor(result)) first = result;
  }
  if (first && floating_.contains(first)) return success();
  for (OpOperand* each : taken) {
    if (!first && !floating_.contains(each->get())) first = each->get();
  }
  for (OpOperand* each : taken) {
    if (failed(want(*each, {first}))) return failure();
  }
  for (const Value result : op->getResults()) {
    if (is_tensor(result) && failed(companies_.join(first, result, op))) return failure();
  }
  return success();
}

LogicalResult Function::look_at_call(util::CallOp call) {
  auto callee = function_->getParentOfType<mlir::ModuleOp>().lookupSymbol<util::FuncOp>(call.getCallee());
  if (!callee) return success();
  for (OpOperand& operand : call->getOpOperands()) {
    const unsigned number = devices_.number_in(callee.getArgAttrDict(operand.getOperandNumber()));
    if (is_tensor(operand.get()) && failed(want(operand, {{}, number}))) return failure();
  }
  for (const mlir::OpResult result : call->getResults()) {
    const unsigned number = devices_.number_in(callee.getResultAttrDict(result.getResultNumber()));
    if (is_tensor(result) && failed(say(result, number, call))) return failure();
  }
  return success();
}

void Function::write_down() {
  const auto write = [&](mlir::ValueRange values) {
    for (const Value value : values) {
      if (is_tensor(value) && !floating_.contains(value)) numbers_[value] = companies_.of(value);
    }
  };
  for (mlir::Block& block : function_.getBody()) {
    write(block.getArguments());
    for (Operation& op : block) write(op.getResults());
  }
}

// Users come first: those that float, too, are on one device each by now.
unsigned Function::wanted_by(OpOperand& use) {
  Operation* const user = use.getOwner();
  if (user->getNumResults() != 0 && floating_.contains(user->getResult(0))) return numbers_.lookup(user->getResult(0));
  const auto found = wants_.find(&use);
  if (found == wants_.end()) return 0;
  return found->second.with ? companies_.of(found->second.with) : found->second.number;
}

void Function::place_floating(Operation* op) {
  std::map<unsigned, SmallVector<OpOperand*>> uses;
  for (OpOperand& use : op->getUses()) {
    if (!llvm::isa<mlir::tensor::DimOp>(use.getOwner())) uses[wanted_by(use)].push_back(&use);
  }
  Operation* made = op;
  const auto place = [&](unsigned number) {
    for (const Value result : made->getResults()) {
      floating_.insert(result);
      numbers_[result] = number;
    }
  };
  if (uses.empty()) place(0);
  for (const auto& [number, of_device] : uses) {
    if (number != uses.begin()->first) {
      mlir::OpBuilder builder(op);
      builder.setInsertionPointAfter(op);
      made = builder.clone(*op);
    }
    place(number);
    for (OpOperand* use : of_device)
      use->set(made->getResult(llvm::cast<mlir::OpResult>(use->get()).getResultNumber()));
  }
}

}  // namespace

unsigned Assignment::of(Operation* op) const {
  for (const Value result : op->getResults()) {
    if (const auto found = tensors_.find(result); found != tensors_.end()) return found->second;
  }
  for (const Value operand : op->getOperands()) {
    if (const auto found = tensors_.find(operand); found != tensors_.end()) return found->second;
  }
  return 0;
}

mlir::FailureOr<Assignment> assign(mlir::ModuleOp module, const Devices& devices) {
  Assignment assignment;
  for (auto function : module.getOps<util::FuncOp>()) {
    if (!function.isExternal() && failed(Function(function, devices, assignment.tensors_).run())) return failure();
  }
  return assignment;
}

}  // namespace baton::compiler_lite::placement
