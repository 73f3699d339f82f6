#include "compiler-lite/schedule/sort_groups.hpp"

#include "compiler-lite/codegen/sort.hpp"
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/form_dispatches.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace baton::compiler_lite::schedule {
namespace {

using mlir::OpBuilder;
using mlir::RankedTensorType;

constexpr llvm::StringLiteral kSortsRows = "baton.sorts_rows";

class Outliner {
 public:
  explicit Outliner(mlir::ModuleOp module) : module_(module) {}

  void outline(util::FuncOp function, RankedTensorType rows) {
    mlir::Block& body = function.getBody().front();
    mlir::Operation* end = body.getTerminator();
    llvm::SmallVector<mlir::Operation*> before;
    for (mlir::Operation& op : body.without_terminator()) before.push_back(&op);
    OpBuilder builder(end);
    mlir::Value sorted = body.getArgument(0);
    for (const codegen::SortSteps& steps : codegen::plan_sort(rows)) {
      const mlir::SymbolRefAttr symbol = group_of(rows, steps);
      auto dispatch = builder.create<flow::DispatchOp>(
          function.getLoc(), mlir::TypeRange(rows), mlir::ValueRange(), builder.getArrayAttr({symbol}),
          mlir::ValueRange(sorted), mlir::ValueRange(), mlir::ValueRange(), builder.getI64ArrayAttr({0}));
      sorted = dispatch.getResult(0);
    }
    end->setOperands(mlir::ValueRange(sorted));
    for (mlir::Operation* op : llvm::reverse(before)) op->erase();
  }

 private:
  mlir::SymbolRefAttr group_of(RankedTensorType rows, const codegen::SortSteps& steps) {
    OpBuilder builder = OpBuilder::atBlockEnd(group_module(module_).getBody());
    auto group = builder.create<mlir::func::FuncOp>(module_.getLoc(), "group", builder.getFunctionType(rows, rows));
    group->setAttr(codegen::kSortSteps, codegen::write_sort_steps(builder, steps));
    group->setAttr("tied_operands", builder.getI64ArrayAttr({0}));
    mlir::Block* const body = group.addEntryBlock();
    builder.setInsertionPointToStart(body);
    builder.create<mlir::func::ReturnOp>(module_.getLoc(), mlir::ValueRange(body->getArgument(0)));
    return names_.intern(group, [](size_t number) { return "sort_rows_" + std::to_string(number); });
  }

  mlir::ModuleOp module_;
  GroupNames names_;
};

}  // namespace

void outline_sorts(mlir::ModuleOp module, bool on_blocks) {
  Outliner outliner(module);
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    if (!function->removeAttr(kSortsRows) || !on_blocks || !function.getBody().hasOneBlock()) continue;
    const mlir::FunctionType type = function.getFunctionType();
    if (type.getNumInputs() != 1 || type.getResults() != type.getInputs()) continue;
    const auto rows = llvm::dyn_cast<RankedTensorType>(type.getInput(0));
    if (rows && codegen::takes_sort(rows)) outliner.outline(function, rows);
  }
}

}  // namespace baton::compiler_lite::schedule
