// First all functions are looked at, with the copies that their callers need; then all are written.
#include "compiler-lite/placement/write_transfers.hpp"

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/placement/tensor_flow.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::placement {
namespace {

using llvm::SmallVector;
using mlir::failed;
using mlir::failure;
using mlir::FunctionOpInterface;
using mlir::LogicalResult;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::OpOperand;
using mlir::success;
using mlir::Value;

bool is_tensor(mlir::Type type) { return llvm::isa<mlir::TensorType>(type); }
bool is_tensor(Value value) { return is_tensor(value.getType()); }

// A function as it is called from somewhere.
struct Form {
  Operation* op;
  FunctionOpInterface original;  // Null for an initializer.
  Signature signature;
  std::unique_ptr<Placement> placement = nullptr;
  SmallVector<int> results = {};
  llvm::DenseMap<Operation*, Signature> calls{};
};

class Forms {
 public:
  Forms(mlir::ModuleOp module, PlacedProgram& program) : symbols_(module), program_(program) {
    for (Operation& op : *module.getBody()) {
      if (llvm::isa<util::InitializerOp>(op)) add(&op, {}, {});
      auto function = llvm::dyn_cast<FunctionOpInterface>(op);
      if (!function || function.isExternal()) continue;
      // As the program has it: its arguments are on the first device unless they say where.
      Signature own;
      for (unsigned i = 0; i < function.getNumArguments(); ++i) {
        own.arguments.push_back(std::max(0, program.number_in(function.getArgAttrDict(i))));
      }
      add(&op, function, own);
    }
    for (size_t i = 0; i < forms_.size(); ++i) look_at(i);
  }

  std::vector<Form>& all() { return forms_; }
  llvm::StringRef name_of(FunctionOpInterface callee, const Signature& signature) const {
    return names_.find({callee, signature})->second;
  }

 private:
  void add(Operation* op, FunctionOpInterface original, const Signature& signature) {
    if (original) names_[{original, signature}] = mlir::SymbolTable::getSymbolName(op).str();
    forms_.push_back({op, original, signature});
  }

  void look_at(size_t number) {
    Operation* const op = forms_[number].op;
    auto placement = std::make_unique<Placement>(program_, op, forms_[number].signature);
    if (const FunctionOpInterface original = forms_[number].original) {
      forms_[number].results = program_.results_of(original, forms_[number].signature);
    }
    op->walk([&](Operation* call) {
      auto callee = program_.callee_of(call);
      if (!callee) return;
      const auto where = [&](Value operand) { return placement->of(operand); };
      const Signature signature = program_.signature_of(call, callee, where, placement->stated(call));
      forms_[number].calls[call] = signature;
      if (callee.isExternal() || names_.contains({callee, signature})) return;
      Operation* const copy = callee->clone();
      symbols_.insert(copy, std::next(callee->getIterator()));  // Under a name of its own.
      add(copy, callee, signature);
    });
    forms_[number].placement = std::move(placement);
  }

  mlir::SymbolTable symbols_;
  PlacedProgram& program_;
  std::vector<Form> forms_;
  std::map<std::pair<Operation*, Signature>, std::string> names_;
};

class Writer {
 public:
  Writer(PlacedProgram& program, const Forms& forms, llvm::ArrayRef<NamedDevice> devices, Form& form)
      : program_(program),
        forms_(forms),
        devices_(devices),
        form_(form),
        where_(*form.placement),
        builder_(form.op->getContext()) {}

  LogicalResult write();

 private:
  void write(Operation* op);
  void write_transfer(flow::TensorTransferOp op);
  void write_call(Operation* op, FunctionOpInterface callee);
  void write_work(Operation* op);
  void write_signature();
  LogicalResult check_inside(Operation* op);
  void bring(OpOperand& use, int number);
  Value transfer(Value tensor, int from, int to);
  mlir::Attribute affinity(int number) {
    return affinity_on(builder_.getContext(), devices_[static_cast<size_t>(number)].name);
  }

  PlacedProgram& program_;
  const Forms& forms_;
  llvm::ArrayRef<NamedDevice> devices_;
  Form& form_;
  const Placement& where_;
  OpBuilder builder_;
  llvm::DenseMap<std::pair<Value, int>, Value> brought_;
};

LogicalResult Writer::write() {
  SmallVector<Operation*> operations;
  const auto collect = [&](auto& self, mlir::Region& region) -> LogicalResult {
    for (Operation& op : region.getOps()) {
      operations.push_back(&op);
      for (mlir::Region& inner : op.getRegions()) {
        if (is_control_flow(&op) ? failed(self(self, inner)) : failed(check_inside(&op))) return failure();
      }
    }
    return success();
  };
  if (failed(collect(collect, form_.op->getRegion(0)))) return failure();
  for (Operation* op : operations) write(op);
  for (Operation* op : operations) {
    if (!llvm::isa<flow::TensorTransferOp>(op)) op->removeAttr(kAffinity);
  }
  for (Operation* op : operations) {
    if (auto transfer = llvm::dyn_cast<flow::TensorTransferOp>(op); transfer && transfer->use_empty()) transfer.erase();
  }
  write_signature();
  return success();
}

// A kernel is on one device, whatever its inside says.
LogicalResult Writer::check_inside(Operation* op) {
  const auto walked = op->walk([&](Operation* inner) {
    const int said = inner == op ? kAnywhere : program_.number_of(inner->getAttr(kAffinity));
    if (said == kAnywhere || said == where_.of_work(op)) return mlir::WalkResult::advance();
    inner->emitOpError("is on @") << devices_[static_cast<size_t>(said)].name << " inside of '" << op->getName()
                                  << "', which works as one, elsewhere";
    return mlir::WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

void Writer::write(Operation* op) {
  for (const Handover& each : handovers_of(op)) bring(*each.from, where_.of(each.to));
  if (op->hasTrait<mlir::OpTrait::IsTerminator>() && op->getParentOp() == form_.op) {
    if (llvm::isa<mlir::func::ReturnOp, util::ReturnOp>(op)) {
      for (const auto [number, result] : llvm::enumerate(form_.results)) {
        if (is_tensor(op->getOperand(static_cast<unsigned>(number)))) {
          bring(op->getOpOperand(static_cast<unsigned>(number)), result);
        }
      }
    }
    return;
  }
  if (only_hands_on(op)) return;
  if (auto moved = llvm::dyn_cast<flow::TensorTransferOp>(op)) return write_transfer(moved);
  if (auto import = llvm::dyn_cast<hal::TensorImportOp>(op)) {
    return import.setAffinityAttr(affinity(where_.of(import.getTarget())));
  }
  if (auto exported = llvm::dyn_cast<hal::TensorExportOp>(op)) {
    return bring(exported->getOpOperand(0), where_.stated(op));
  }
  if (auto store = llvm::dyn_cast<util::GlobalStoreOp>(op)) {
    if (is_tensor(store.getValue())) bring(store->getOpOperand(0), program_.of_global(store.getGlobal()));
    return;
  }
  auto callee = program_.callee_of(op);
  if (callee && !is_command(callee)) return write_call(op, callee);
  write_work(op);
}

void Writer::write_transfer(flow::TensorTransferOp op) {
  const int to = where_.of(op.getResult()), from = where_.of(op.getOperand());
  if (from == to) return op.replaceAllUsesWith(op.getOperand());
  op.setTargetAttr(affinity(to));
  op->setAttr(kFrom, affinity(from == kAnywhere ? to : from));  // What floats is made there at once.
}

void Writer::write_call(Operation* op, FunctionOpInterface callee) {
  const Signature& signature = form_.calls.find(op)->second;
  for (const auto [number, wanted] : llvm::enumerate(signature.arguments)) {
    OpOperand& operand = op->getOpOperand(static_cast<unsigned>(number));
    // What another module gets as a view may be anywhere, unless the import says where.
    const bool says = program_.number_in(callee.getArgAttrDict(static_cast<unsigned>(number))) != kAnywhere;
    if (is_tensor(operand.get()) && (says || !callee.isExternal())) bring(operand, wanted);
  }
  if (callee.isExternal()) return;
  const llvm::StringRef name = forms_.name_of(callee, signature);
  llvm::cast<mlir::CallOpInterface>(op).setCalleeFromCallable(
      mlir::FlatSymbolRefAttr::get(builder_.getContext(), name));
}

void Writer::write_work(Operation* op) {
  const int number = where_.of_work(op);
  if (number == kAnywhere) return;
  bool is_bound = false;  // By something that lies where the work is.
  for (OpOperand* taken : tensors_taken(op)) {
    is_bound |= where_.of(taken->get()) != kAnywhere;
    bring(*taken, number);
  }
  if (is_bound) return;
  // Later steps see where it is by a transfer that goes nowhere.
  for (mlir::OpResult result : op->getResults()) {
    if (!is_tensor(result) || result.use_empty()) continue;
    const Value anchor = transfer(result, number, number);
    result.replaceUsesWithIf(anchor, [&](OpOperand& use) {
      return use.getOwner() != anchor.getDefiningOp() && !llvm::isa<mlir::tensor::DimOp>(use.getOwner());
    });
  }
}

void Writer::bring(OpOperand& use, int number) {
  const int from = where_.of(use.get());
  if (from == kAnywhere || number == kAnywhere || from == number) return;
  Value& brought = brought_[{use.get(), number}];
  if (!brought) brought = transfer(use.get(), from, number);
  use.set(brought);
}

Value Writer::transfer(Value tensor, int from, int to) {
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointAfterValue(tensor);
  const mlir::Location location = tensor.getLoc();
  const auto type = llvm::cast<mlir::RankedTensorType>(tensor.getType());
  SmallVector<Value> dims;
  for (unsigned i = 0; i < type.getRank(); ++i) {
    if (type.isDynamicDim(i)) dims.push_back(builder_.create<mlir::tensor::DimOp>(location, tensor, i));
  }
  auto made = builder_.create<flow::TensorTransferOp>(location, type, tensor, dims, affinity(to));
  made->setAttr(kFrom, affinity(from));
  return made.getResult();
}

// For calls that stay calls, and for tensors that cross as views.
void Writer::write_signature() {
  auto function = llvm::dyn_cast<FunctionOpInterface>(form_.op);
  if (!function) return;
  function->removeAttr(kAffinity);
  const auto rewrite = [&](unsigned number, int device, bool is_result) {
    const auto set = [&](llvm::StringRef name) {
      if (is_result) return function.setResultAttr(number, name, affinity(device));
      function.setArgAttr(number, name, affinity(device));
    };
    const mlir::DictionaryAttr said = is_result ? function.getResultAttrDict(number) : function.getArgAttrDict(number);
    if (said && said.contains(kBoundaryAffinity)) set(kBoundaryAffinity);
    set(kAffinity);
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (is_tensor(function.getArgument(i))) rewrite(i, where_.of(function.getArgument(i)), false);
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    if (is_tensor(function.getResultTypes()[i])) rewrite(i, form_.results[i], true);
  }
}

}  // namespace

LogicalResult write_transfers(mlir::ModuleOp module, PlacedProgram& program, llvm::ArrayRef<NamedDevice> devices) {
  const auto affinity = [&](int number) {
    return affinity_on(module.getContext(), devices[static_cast<size_t>(number)].name);
  };
  Forms forms(module, program);
  for (Form& form : forms.all()) {
    if (failed(Writer(program, forms, devices, form).write())) return failure();
  }
  for (auto global : module.getOps<util::GlobalOp>()) {
    if (!is_tensor(global.getType())) continue;
    global->setAttr(kAffinity, affinity(program.of_global(global.getSymName())));
  }
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (!function.isExternal()) continue;
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      const int number = program.number_in(function.getResultAttrDict(i));
      if (number != kAnywhere) function.setResultAttr(i, kAffinity, affinity(number));
    }
  }
  return success();
}

}  // namespace baton::compiler_lite::placement
