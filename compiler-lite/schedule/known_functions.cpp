#include "compiler-lite/schedule/known_functions.hpp"

#include "compiler-lite/codegen/fourier.hpp"
#include "compiler-lite/codegen/sort.hpp"
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/form_dispatches.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

namespace baton::compiler_lite::schedule {
namespace {

using mlir::OpBuilder;
using mlir::RankedTensorType;
using mlir::Value;

constexpr llvm::StringLiteral kSortsRows = "baton.sorts_rows";

class Outliner {
 public:
  explicit Outliner(mlir::ModuleOp module) : module_(module) {}

  void sort(util::FuncOp function, RankedTensorType rows) {
    Value sorted = function.getBody().getArgument(0);
    const llvm::SmallVector<mlir::Operation*> before = operations_of(function);
    for (const codegen::SortSteps& steps : codegen::plan_sort(rows)) {
      const mlir::SymbolRefAttr symbol =
          write_group("sort_rows_", function.getFunctionType(),
                      [&](OpBuilder& builder, mlir::func::FuncOp group) -> llvm::SmallVector<Value> {
                        group->setAttr(codegen::kSortSteps, codegen::write_sort_steps(builder, steps));
                        group->setAttr("tied_operands", builder.getI64ArrayAttr({0}));
                        return {group.getArgument(0)};
                      });
      sorted = dispatch(function, symbol, sorted, {0}).front();
    }
    end(function, sorted, before);
  }

  void transform(util::FuncOp function) {
    const llvm::SmallVector<mlir::Operation*> before = operations_of(function);
    const mlir::FunctionType type = function.getFunctionType();
    const mlir::SymbolRefAttr symbol = write_group("fourier_", type, [&](OpBuilder& builder, mlir::func::FuncOp group) {
      group->setAttr(codegen::kFourier, function->getAttr(codegen::kFourier));
      llvm::SmallVector<Value> made;
      for (const mlir::Type result : type.getResults()) {
        const auto tensor = llvm::cast<RankedTensorType>(result);
        made.push_back(
            builder.create<mlir::tensor::EmptyOp>(group.getLoc(), tensor.getShape(), tensor.getElementType()));
      }
      return made;
    });
    end(function, dispatch(function, symbol, function.getBody().getArguments(), {}), before);
  }

 private:
  static llvm::SmallVector<mlir::Operation*> operations_of(util::FuncOp function) {
    llvm::SmallVector<mlir::Operation*> all;
    for (mlir::Operation& op : function.getBody().front().without_terminator()) all.push_back(&op);
    return all;
  }

  static mlir::ResultRange dispatch(util::FuncOp function, mlir::SymbolRefAttr symbol, mlir::ValueRange operands,
                                    llvm::ArrayRef<int64_t> ties) {
    OpBuilder builder(function.getBody().front().getTerminator());
    auto made = builder.create<flow::DispatchOp>(function.getLoc(), function.getFunctionType().getResults(),
                                                 mlir::ValueRange(), builder.getArrayAttr({symbol}), operands,
                                                 mlir::ValueRange(), mlir::ValueRange(),
                                                 ties.empty() ? mlir::ArrayAttr() : builder.getI64ArrayAttr(ties));
    return made->getResults();
  }

  // The function returns `results`, and nothing of what stood `before` is left.
  static void end(util::FuncOp function, mlir::ValueRange results, llvm::ArrayRef<mlir::Operation*> before) {
    function.getBody().front().getTerminator()->setOperands(results);
    for (mlir::Operation* op : llvm::reverse(before)) op->erase();
  }

  using WriteBody = llvm::function_ref<llvm::SmallVector<Value>(OpBuilder&, mlir::func::FuncOp)>;

  mlir::SymbolRefAttr write_group(llvm::StringRef name, mlir::FunctionType type, WriteBody write) {
    OpBuilder builder = OpBuilder::atBlockEnd(group_module(module_).getBody());
    auto group = builder.create<mlir::func::FuncOp>(module_.getLoc(), "group", type);
    builder.setInsertionPointToStart(group.addEntryBlock());
    builder.create<mlir::func::ReturnOp>(module_.getLoc(), write(builder, group));
    return names_.intern(group, [&](size_t number) { return name.str() + std::to_string(number); });
  }

  mlir::ModuleOp module_;
  GroupNames names_;
};

}  // namespace

void outline_known_functions(mlir::ModuleOp module, bool on_blocks, int64_t local_bytes) {
  Outliner outliner(module);
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    const mlir::FunctionType type = function.getFunctionType();
    const bool sorts = function->removeAttr(kSortsRows) != nullptr;
    const std::optional<codegen::Fourier> fourier = codegen::find_fourier(function, type);
    if (on_blocks && function.getBody().hasOneBlock()) {
      const bool is_endomap = type.getNumInputs() == 1 && type.getResults() == type.getInputs();
      const auto rows = is_endomap ? llvm::dyn_cast<RankedTensorType>(type.getInput(0)) : RankedTensorType();
      if (sorts && rows && codegen::takes_sort(rows)) outliner.sort(function, rows);
      if (fourier && codegen::takes_fourier(*fourier, mlir::getElementTypeOrSelf(type.getInput(0)), local_bytes)) {
        outliner.transform(function);
      }
    }
    function->removeAttr(codegen::kFourier);
  }
}

}  // namespace baton::compiler_lite::schedule
