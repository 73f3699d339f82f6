#include "compiler-lite/schedule/handed_on.hpp"

#include "compiler-lite/schedule/tensors.hpp"
#include "llvm/ADT/SmallPtrSet.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace scf = mlir::scf;
using llvm::SmallVector;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::Value;

// What the condition computes of what it hands on.
class Computed {
 public:
  explicit Computed(mlir::Block& block) : block_(block) {}

  // Whether `value` may be computed elsewhere: it comes from outside, is carried, or is a number made of such.
  bool add(Value value) {
    Operation* const made = value.getDefiningOp();
    if (!made || made->getBlock() != &block_ || operations_.contains(made)) return true;
    const bool is_number = made->getNumRegions() == 0 && mlir::isMemoryEffectFree(made) &&
                           llvm::none_of(made->getResultTypes(), [](mlir::Type type) { return is_tensor(type); });
    if (!is_number || !llvm::all_of(made->getOperands(), [&](Value operand) { return add(operand); })) return false;
    operations_.insert(made);
    return true;
  }

  // Writes the operations again for other values of the loop's carried values.
  mlir::IRMapping write(OpBuilder& builder, mlir::ValueRange carried) const {
    mlir::IRMapping values;
    values.map(block_.getArguments(), carried);
    for (Operation& op : block_) {
      if (operations_.contains(&op)) builder.clone(op, values);
    }
    return values;
  }

 private:
  mlir::Block& block_;
  llvm::SmallPtrSet<Operation*, 8> operations_;
};

void hand_all_on(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  const SmallVector<Value> handed(condition.getArgs());
  Computed computed(*loop.getBeforeBody());
  if (!llvm::all_of(handed, [&](Value value) { return computed.add(value); })) return;
  OpBuilder builder(loop);
  auto made = builder.create<scf::WhileOp>(loop.getLoc(), loop.getInits().getTypes(), loop.getInits());
  const auto replace = [&](mlir::ValueRange old, mlir::ValueRange carried) {
    const mlir::IRMapping values = computed.write(builder, carried);
    for (auto [before, value] : llvm::zip_equal(old, handed)) {
      Value(before).replaceAllUsesWith(values.lookupOrDefault(value));
    }
  };
  replace(loop.getResults(), made.getResults());
  made.getBefore().takeBody(loop.getBefore());
  made.getAfter().takeBody(loop.getAfter());
  mlir::Block& turn = *made.getAfterBody();
  const unsigned count = turn.getNumArguments();
  for (const Value init : made.getInits()) turn.addArgument(init.getType(), init.getLoc());
  builder.setInsertionPointToStart(&turn);
  replace(turn.getArguments().take_front(count), turn.getArguments().drop_front(count));
  turn.eraseArguments(0, count);
  condition.getArgsMutable().assign(made.getBeforeArguments());
  loop.erase();
}

}  // namespace

bool hands_all_on(scf::WhileOp loop) { return llvm::equal(loop.getConditionOp().getArgs(), loop.getBeforeArguments()); }

void hand_all_on(Operation* root) {
  SmallVector<scf::WhileOp> loops;
  root->walk([&](scf::WhileOp loop) {
    if (!hands_all_on(loop)) loops.push_back(loop);
  });
  for (scf::WhileOp loop : loops) hand_all_on(loop);
}

}  // namespace baton::compiler_lite::schedule
