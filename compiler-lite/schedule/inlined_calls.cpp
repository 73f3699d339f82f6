#include "compiler-lite/schedule/inlined_calls.hpp"

#include <vector>

#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/InliningUtils.h"

namespace baton::compiler_lite::schedule {
namespace {

using llvm::SmallVector;
using mlir::failed;
using mlir::LogicalResult;
using mlir::success;
using mlir::Value;

// A program of more operations than this, and of more than so many times what was written, is one in which functions call others
// several times, level by level. There, those that come to more operations than kLargeBody stay functions.
constexpr uint64_t kManyOperations = 50'000, kMostGrowth = 4, kLargeBody = 1000;

// Calls of our own functions may be replaced by their bodies; what the bodies hold was decided by the program's author.
class Inlining : public mlir::InlinerInterface {
 public:
  using mlir::InlinerInterface::InlinerInterface;
  bool isLegalToInline(mlir::Operation*, mlir::Operation*, bool) const override { return true; }
  bool isLegalToInline(mlir::Region*, mlir::Region*, bool, mlir::IRMapping&) const override { return true; }
  bool isLegalToInline(mlir::Operation*, mlir::Region*, bool, mlir::IRMapping&) const override { return true; }
  void handleTerminator(mlir::Operation* op, mlir::ValueRange results) const override {
    for (unsigned i = 0; i < results.size(); ++i) Value(results[i]).replaceAllUsesWith(op->getOperand(i));
  }
  // MLIR asks for the end of each block: branches inside of the body stay.
  void handleTerminator(mlir::Operation* op, mlir::Block* after) const override {
    if (!llvm::isa<util::ReturnOp>(op)) return;
    mlir::OpBuilder builder(op);
    builder.create<mlir::cf::BranchOp>(op->getLoc(), after, op->getOperands());
    op->erase();
  }
  void processInlinedBlocks(llvm::iterator_range<mlir::Region::iterator> blocks) override {
    for (mlir::Block& block : blocks) block.walk([&](util::CallOp call) { calls.push_back(call); });
  }

  SmallVector<util::CallOp> calls;  // Those to be looked at.
};

// A call with tensors of a function with a body.
util::FuncOp callee_on_tensors(const mlir::SymbolTable& symbols, util::CallOp call) {
  if (!has_tensors(call)) return {};
  auto callee = symbols.lookup<util::FuncOp>(call.getCallee());
  return !callee || callee.isExternal() || callee->hasAttr("noinline") ? util::FuncOp() : callee;
}

// Which functions call which, and how large they are with what they call in place. It takes no stack for calls that are deep.
class CallGraph {
 public:
  CallGraph(mlir::ModuleOp module, const mlir::SymbolTable& symbols) {
    for (mlir::Operation& op : *module.getBody()) {
      numbers_[&op] = static_cast<unsigned>(nodes_.size());
      nodes_.emplace_back();
    }
    uint64_t written = 0;
    for (mlir::Operation& op : *module.getBody()) written += add_calls(op, symbols);
    find_recursive();
    const uint64_t whole = add_sizes();
    grows_ = whole > kManyOperations && whole / kMostGrowth > written;
  }

  bool stays(util::FuncOp callee) const {
    const Node& node = nodes_[numbers_.lookup(callee)];
    return node.is_recursive || (grows_ && node.size > kLargeBody && node.callers.size() > 1);
  }

 private:
  using Numbers = SmallVector<unsigned, 2>;
  struct Node {
    uint64_t size = 0;
    Numbers callees, callers;  // One for each call.
    bool is_recursive = false;
  };

  uint64_t add_calls(mlir::Operation& op, const mlir::SymbolTable& symbols) {
    const unsigned caller = numbers_[&op];
    uint64_t size = 0;
    op.walk([&](mlir::Operation* inner) {
      ++size;
      auto call = llvm::dyn_cast<util::CallOp>(inner);
      const util::FuncOp callee = call ? callee_on_tensors(symbols, call) : util::FuncOp();
      if (!callee) return;
      const unsigned called = numbers_[callee];
      nodes_[caller].callees.push_back(called);
      nodes_[called].callers.push_back(caller);
    });
    nodes_[caller].size = size;
    return size;
  }

  // Those of the nodes `among` in whose way no circle stands, each after its `before`.
  SmallVector<unsigned> ordered(const llvm::BitVector& among, Numbers Node::*before, Numbers Node::*after) const {
    SmallVector<unsigned> order;
    std::vector<size_t> left(nodes_.size(), 0);
    for (const unsigned i : among.set_bits()) {
      for (const unsigned other : nodes_[i].*before) left[i] += among[other];
      if (left[i] == 0) order.push_back(i);
    }
    for (size_t at = 0; at < order.size(); ++at) {
      for (const unsigned other : nodes_[order[at]].*after) {
        if (among[other] && --left[other] == 0) order.push_back(other);
      }
    }
    return order;
  }

  // What is left between functions that call nothing and those that nothing calls: it calls itself, or stands between two that do.
  void find_recursive() {
    llvm::BitVector left(static_cast<unsigned>(nodes_.size()), true);
    for (const unsigned i : ordered(left, &Node::callees, &Node::callers)) left.reset(i);
    for (const unsigned i : ordered(left, &Node::callers, &Node::callees)) left.reset(i);
    for (const unsigned i : left.set_bits()) nodes_[i].is_recursive = true;
  }

  // Returns the size of the whole program.
  uint64_t add_sizes() {
    llvm::BitVector among(static_cast<unsigned>(nodes_.size()), true);
    uint64_t whole = 0;
    for (unsigned i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].is_recursive) continue;
      among.reset(i);
      whole += nodes_[i].size;
    }
    for (const unsigned i : ordered(among, &Node::callees, &Node::callers)) {
      Node& node = nodes_[i];
      for (const unsigned callee : node.callees) {
        if (among[callee]) node.size = llvm::SaturatingAdd(node.size, nodes_[callee].size);
      }
      if (node.callers.empty()) whole = llvm::SaturatingAdd(whole, node.size);
    }
    return whole;
  }

  llvm::DenseMap<mlir::Operation*, unsigned> numbers_;
  std::vector<Node> nodes_;
  bool grows_ = false;
};

bool is_erasable(util::FuncOp function) {
  return !function.isExternal() && !function.isPublic() && has_tensor_types(function.getFunctionType());
}

// Private functions on tensors that no function calls, and those that only they called.
void erase_unused_functions(mlir::ModuleOp module) {
  llvm::DenseMap<mlir::StringAttr, size_t> use_counts;
  const auto visit_uses = [](mlir::Region& users, llvm::function_ref<void(mlir::StringAttr)> visit) {
    const auto uses = mlir::SymbolTable::getSymbolUses(&users);
    if (!uses) return;
    for (const mlir::SymbolTable::SymbolUse& use : *uses) visit(use.getSymbolRef().getRootReference());
  };
  visit_uses(module.getBodyRegion(), [&](mlir::StringAttr name) { ++use_counts[name]; });
  llvm::DenseMap<mlir::StringAttr, util::FuncOp> erasable;
  SmallVector<util::FuncOp> unused;
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    if (!is_erasable(function)) continue;
    erasable[function.getSymNameAttr()] = function;
    if (use_counts.lookup(function.getSymNameAttr()) == 0) unused.push_back(function);
  }
  while (!unused.empty()) {
    util::FuncOp function = unused.pop_back_val();
    visit_uses(function.getBody(), [&](mlir::StringAttr name) {
      if (--use_counts[name] != 0) return;
      if (util::FuncOp callee = erasable.lookup(name)) unused.push_back(callee);
    });
    function.erase();
  }
}

LogicalResult inline_calls_in(mlir::Operation& op, const mlir::SymbolTable& symbols, const CallGraph& graph) {
  Inlining interface(op.getContext());
  op.walk([&](util::CallOp call) { interface.calls.push_back(call); });
  while (!interface.calls.empty()) {
    util::CallOp call = interface.calls.pop_back_val();
    util::FuncOp callee = callee_on_tensors(symbols, call);
    if (!callee || graph.stays(callee)) continue;
    // A body of several blocks can't stand inside a loop or condition.
    if (!callee.getBody().hasOneBlock() && !llvm::isa<util::FuncOp>(call->getParentOp())) continue;
    if (failed(mlir::inlineRegion(interface, &callee.getBody(), call, call.getOperands(), call.getResults()))) {
      return call.emitOpError("can't be replaced by the body of @") << callee.getSymName();
    }
    call.erase();
  }
  return success();
}

}  // namespace

// Bodies are taken as they were written, so that each is copied as often as it ends up somewhere: what stays is looked at, not what
// goes. Functions that are still called then stay, too.
LogicalResult inline_calls(mlir::ModuleOp module) {
  const mlir::SymbolTable symbols(module);
  const CallGraph graph(module, symbols);
  llvm::DenseSet<mlir::Operation*> done;
  bool looks_at_called = false;
  while (true) {
    SmallVector<mlir::Operation*> next;
    for (mlir::Operation& op : *module.getBody()) {
      auto function = llvm::dyn_cast<util::FuncOp>(op);
      if (!looks_at_called && function && is_erasable(function)) continue;
      if (done.insert(&op).second) next.push_back(&op);
    }
    if (next.empty() && looks_at_called) return success();
    for (mlir::Operation* op : next) {
      if (failed(inline_calls_in(*op, symbols, graph))) return mlir::failure();
    }
    erase_unused_functions(module);
    looks_at_called = true;
  }
}

}  // namespace baton::compiler_lite::schedule
