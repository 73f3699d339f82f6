#include "compiler-lite/schedule/check_bounds.hpp"

#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/bound_rules.hpp"

namespace baton::compiler_lite::schedule {

mlir::LogicalResult check_bounds(mlir::ModuleOp module) {
  HalCalls hal(module);
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    mlir::OpBuilder builder(module.getContext());
    BoundRules rules(builder, hal);
    // Blocks in their order: what the first one compared holds in the others. Bodies of kernels stay as they are.
    for (mlir::Block& block : function.getBody()) {
      llvm::SmallVector<mlir::Operation*> operations;
      for (mlir::Operation& op : block) operations.push_back(&op);
      for (mlir::Operation* op : operations) {
        if (mlir::failed(rules.apply(op))) return mlir::failure();
      }
    }
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
