#include "compiler-lite/schedule/empties.hpp"

#include "compiler-lite/schedule/aliases.hpp"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::schedule {
namespace {

using llvm::SmallVector;
using mlir::Block;
using mlir::Operation;
using mlir::Value;

class Splitter {
 public:
  explicit Splitter(mlir::Region& body) : body_(body) {}

  // What is made of nothing but an empty is one, too.
  void split(Value empty) {
    for (mlir::OpOperand& use : llvm::make_early_inc_range(empty.getUses())) {
      Operation* const user = use.getOwner();
      use.set(copy_in(empty, *body_.findAncestorBlockInRegion(*user->getBlock())));
      if (is_view(user) && use.getOperandNumber() == 0) split(user->getResult(0));
    }
  }

 private:
  Value copy_in(Value empty, Block& block) {
    if (empty.getParentBlock() == &block) return empty;
    if (const Value made = copies_.lookup({empty, &block})) return made;
    Operation* const op = empty.getDefiningOp();
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(&block);
    mlir::IRMapping operands;
    if (is_view(op)) {
      const Value source = copy_in(op->getOperand(0), block);
      operands.map(op->getOperand(0), source);
      builder.setInsertionPointAfterValue(source);
    }
    return copies_[{empty, &block}] = builder.clone(*op, operands)->getResult(0);
  }

  mlir::Region& body_;
  llvm::DenseMap<std::pair<Value, Block*>, Value> copies_;
};

}  // namespace

void split_empties(util::FuncOp function) {
  mlir::Region& body = function.getBody();
  if (body.hasOneBlock()) return;
  SmallVector<Operation*> empties;
  for (Block& block : body) llvm::append_range(empties, block.getOps<mlir::tensor::EmptyOp>());
  Splitter splitter(body);
  for (Operation* empty : empties) splitter.split(empty->getResult(0));
}

}  // namespace baton::compiler_lite::schedule
