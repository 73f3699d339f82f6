#include "compiler-lite/placement/placement.hpp"

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/placement/tensor_flow.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::placement {
namespace {

using llvm::SmallVector;
using mlir::FunctionOpInterface;
using mlir::Operation;
using mlir::Value;

bool is_tensor(Value value) { return llvm::isa<mlir::TensorType>(value.getType()); }

bool is_return(Operation* op) { return llvm::isa<mlir::func::ReturnOp, util::ReturnOp>(op); }

// Not into what works: its regions are its own.
template <typename Visit>
void walk_host(mlir::Region& region, Visit&& visit) {
  for (mlir::Block& block : region) {
    for (Operation& op : block) {
      visit(&op);
      if (!is_control_flow(&op)) continue;
      for (mlir::Region& inner : op.getRegions()) walk_host(inner, visit);
    }
  }
}

}  // namespace

bool is_command(FunctionOpInterface function) { return function->hasAttr("iree.abi.streamable"); }

int PlacedProgram::number_of(mlir::Attribute affinity) const {
  const auto found = numbers_.find(device_of(affinity));
  return found == numbers_.end() ? kAnywhere : found->second;
}

int PlacedProgram::number_in(mlir::DictionaryAttr attributes) const {
  if (!attributes) return kAnywhere;
  const mlir::Attribute boundary = attributes.get(kBoundaryAffinity);
  return number_of(boundary ? boundary : attributes.get(kAffinity));
}

int PlacedProgram::of_global(llvm::StringRef name) const {
  Operation* global = symbols_.lookup(name);
  return global ? std::max(0, number_of(global->getAttr(kAffinity))) : 0;
}

FunctionOpInterface PlacedProgram::callee_of(Operation* call) const {
  if (!llvm::isa<mlir::func::CallOp, util::CallOp>(call)) return {};
  const mlir::CallInterfaceCallable callee = llvm::cast<mlir::CallOpInterface>(call).getCallableForCallee();
  const auto name = llvm::cast<mlir::SymbolRefAttr>(callee);
  return llvm::dyn_cast_or_null<FunctionOpInterface>(symbols_.lookup(name.getRootReference()));
}

SmallVector<int> PlacedProgram::results_of(FunctionOpInterface callee, const Signature& signature) {
  const unsigned count = callee.getNumResults();
  if (callee.isExternal()) {
    SmallVector<int> numbers;
    for (unsigned i = 0; i < count; ++i) numbers.push_back(std::max(0, number_in(callee.getResultAttrDict(i))));
    return numbers;
  }
  const auto [entry, is_new] = results_.try_emplace({callee, signature});
  Results& results = entry->second;
  if (results.known) return results.numbers;
  if (!is_new) results.is_recursive = true;
  SmallVector<int> first(count, 0);
  if (!is_new) return first;
  SmallVector<int> found = Placement(*this, callee, signature).results();
  results.numbers = results.is_recursive ? first : found;
  results.known = true;
  return results.numbers;
}

Signature PlacedProgram::signature_of(Operation* call, FunctionOpInterface callee, llvm::function_ref<int(Value)> where,
                                      int inherited) const {
  Signature signature;
  const bool has_one_form = callee.isPublic() || callee.isExternal();
  for (const auto [number, operand] : llvm::enumerate(call->getOperands())) {
    const int said = number_in(callee.getArgAttrDict(static_cast<unsigned>(number)));
    const int there = !is_tensor(operand) || has_one_form ? 0 : where(operand);
    signature.arguments.push_back(said == kAnywhere ? there : said);
  }
  signature.inherited = has_one_form ? kAnywhere : inherited;
  return signature;
}

Placement::Placement(PlacedProgram& program, Operation* function, const Signature& signature)
    : program_(program), function_(function), inherited_(signature.inherited) {
  mlir::Region& body = function->getRegion(0);
  for (const auto [argument, number] : llvm::zip(body.getArguments(), signature.arguments)) set(argument, number);
  do {
    find();
  } while (pin_one());
}

int Placement::of(Value tensor) const {
  const auto found = tensors_.find(tensor);
  return found == tensors_.end() ? kAnywhere : found->second;
}

int Placement::of_work(Operation* op) const {
  const auto found = work_.find(op);
  return found == work_.end() ? kAnywhere : found->second;
}

int Placement::stated(Operation* op) const {
  if (const int number = program_.number_of(op->getAttr("affinity")); number != kAnywhere) return number;
  for (Operation* each = op; each; each = each->getParentOp()) {
    if (const int number = program_.number_of(each->getAttr(kAffinity)); number != kAnywhere) return number;
    if (each == function_) break;
  }
  return inherited_;
}

SmallVector<int> Placement::results() const {
  auto function = llvm::dyn_cast<FunctionOpInterface>(function_);
  if (!function) return {};
  SmallVector<int> numbers(function.getNumResults(), kAnywhere);
  for (unsigned i = 0; i < numbers.size(); ++i) numbers[i] = program_.number_in(function.getResultAttrDict(i));
  // Storage that the caller brings for a result is where its argument is.
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    const auto result = function.getArgAttrOfType<mlir::IntegerAttr>(i, "iree.abi.output");
    if (!result || result.getInt() < 0 || result.getInt() >= static_cast<int64_t>(numbers.size())) continue;
    numbers[static_cast<size_t>(result.getInt())] = std::max(0, program_.number_in(function.getArgAttrDict(i)));
  }
  walk_host(function_->getRegion(0), [&](Operation* op) {
    if (!is_return(op)) return;
    for (const auto [number, operand] : llvm::zip(numbers, op->getOperands())) {
      if (number == kAnywhere) number = of(operand);
    }
  });
  for (int& number : numbers) number = std::max(0, number);
  return numbers;
}

// Once something is known it stays: each round knows more, until nothing is new.
void Placement::find() {
  do {
    changed_ = false;
    visit(function_->getRegion(0));
  } while (changed_);
}

void Placement::visit(mlir::Region& region) {
  walk_host(region, [&](Operation* op) { visit(op); });
}

void Placement::visit(Operation* op) {
  const SmallVector<Handover> handovers = handovers_of(op);
  for (const Handover& each : handovers) set(each.to, of(each.from->get()));
  // One tensor is handed to the first round of a loop, and to what is behind the loop where there is no round.
  for (const Handover& each : handovers) {
    for (const Handover& other : handovers) {
      if (other.from == each.from) set(other.to, of(each.to));
    }
  }
  if (only_hands_on(op)) return;
  if (auto transfer = llvm::dyn_cast<flow::TensorTransferOp>(op)) {
    return set(transfer.getResult(), program_.number_of(transfer.getTarget()));
  }
  if (auto import = llvm::dyn_cast<hal::TensorImportOp>(op)) {
    return set(import.getTarget(), std::max(0, program_.number_of(import.getAffinityAttr())));
  }
  if (auto load = llvm::dyn_cast<util::GlobalLoadOp>(op)) {
    return set(load.getResult(), program_.of_global(load.getGlobal()));
  }
  if (llvm::isa<hal::TensorExportOp, util::GlobalStoreOp, mlir::tensor::DimOp>(op)) return;  // Wherever it is.
  auto callee = program_.callee_of(op);
  if (callee && !is_command(callee)) return visit_call(op, callee);
  visit_work(op);
}

void Placement::visit_call(Operation* op, FunctionOpInterface callee) {
  const auto where = [&](Value operand) { return of(operand); };
  const Signature signature = program_.signature_of(op, callee, where, stated(op));
  // What goes round a loop may still be found, and with it where the results are.
  for (const auto [operand, number] : llvm::zip(op->getOperands(), signature.arguments)) {
    if (is_tensor(operand) && number == kAnywhere && !floating_.contains(operand)) return;
  }
  for (const auto [result, number] : llvm::zip(op->getResults(), program_.results_of(callee, signature))) {
    set(result, number);
  }
}

void Placement::visit_work(Operation* op) {
  const SmallVector<mlir::OpOperand*> taken = tensors_taken(op);
  int number = of_work(op);
  if (number == kAnywhere) number = stated(op);
  for (mlir::OpOperand* each : taken) {
    if (number == kAnywhere) number = of(each->get());
  }
  if (number == kAnywhere) {
    const auto floats = [&](Value tensor) { return floating_.contains(tensor); };
    if (is_made_anywhere(op, floats)) return floating_.insert(op->result_begin(), op->result_end());
    // What goes round a loop may still be found.
    if (!llvm::all_of(taken, [&](mlir::OpOperand* each) { return floats(each->get()); })) return;
    number = 0;
  }
  if (work_.try_emplace(op, number).second) changed_ = true;
  for (const Value result : op->getResults()) set(result, number);
}

bool Placement::pin_one() {
  const auto pin = [&](Value tensor) {
    if (!is_tensor(tensor) || of(tensor) != kAnywhere) return false;
    int number = kAnywhere;
    for (Operation* user : tensor.getUsers()) {
      if (number == kAnywhere) number = of_work(user);
    }
    set(tensor, std::max(0, number));
    return true;
  };
  bool pinned = false;
  const auto pin_first = [&](mlir::ValueRange values) {
    for (const Value value : values) pinned = pinned || pin(value);
  };
  for (mlir::Block& block : function_->getRegion(0)) pin_first(block.getArguments());
  walk_host(function_->getRegion(0), [&](Operation* op) {
    if (!only_hands_on(op)) return;
    pin_first(op->getResults());
    if (!is_control_flow(op)) return;
    for (mlir::Region& region : op->getRegions()) {
      for (mlir::Block& block : region) pin_first(block.getArguments());
    }
  });
  return pinned;
}

void Placement::set(Value tensor, int number) {
  if (number == kAnywhere || !is_tensor(tensor)) return;
  if (tensors_.try_emplace(tensor, number).second) changed_ = true;
}

}  // namespace baton::compiler_lite::placement
