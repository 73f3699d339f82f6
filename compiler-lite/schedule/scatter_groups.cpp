#include "compiler-lite/schedule/scatter_groups.hpp"

#include "compiler-lite/codegen/scatter.hpp"
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/form_dispatches.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace linalg = mlir::linalg;
using llvm::SmallVector;
using mlir::OpBuilder;
using mlir::Value;

bool is_number(Value value) { return !is_tensor(value) && mlir::matchPattern(value, mlir::m_Constant()); }

class Outliner {
 public:
  explicit Outliner(mlir::ModuleOp module) : module_(module) {}

  void outline(linalg::GenericOp op, llvm::StringRef function) {
    const SmallVector<Value> arguments = arguments_of(op);
    mlir::func::FuncOp group = write_group(op, arguments);
    const mlir::SymbolRefAttr symbol = names_.intern(
        group, [&](size_t number) { return symbol_name((function + "_scatter_" + llvm::Twine(number)).str()); });
    OpBuilder builder(op);
    SmallVector<Value> sizes;
    for (const Value argument : arguments) add_sizes(builder, argument, sizes);
    SmallVector<Value> result_sizes;
    add_sizes(builder, arguments.front(), result_sizes);
    auto dispatch = builder.create<flow::DispatchOp>(op.getLoc(), op->getResultTypes(), mlir::ValueRange(),
                                                     builder.getArrayAttr({symbol}), arguments, sizes, result_sizes,
                                                     builder.getI64ArrayAttr({0}));
    op->replaceAllUsesWith(dispatch.getResults());
    op->erase();
  }

 private:
  // What is written into comes first.
  static SmallVector<Value> arguments_of(linalg::GenericOp op) {
    llvm::SetVector<Value> used;
    used.insert(op.getDpsInits()[0]);
    for (const Value input : op.getDpsInputs()) used.insert(input);
    llvm::SetVector<Value> captured;
    mlir::getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (const Value value : captured) {
      if (!is_number(value)) used.insert(value);
    }
    return used.takeVector();
  }

  mlir::func::FuncOp write_group(linalg::GenericOp op, llvm::ArrayRef<Value> arguments) {
    OpBuilder builder = OpBuilder::atBlockEnd(group_module(module_).getBody());
    const auto type = builder.getFunctionType(mlir::ValueRange(arguments).getTypes(), op->getResultTypes());
    auto group = builder.create<mlir::func::FuncOp>(op.getLoc(), "group", type);
    group->setAttr(codegen::kScatter, builder.getUnitAttr());
    group->setAttr("tied_operands", builder.getI64ArrayAttr({0}));
    mlir::Block* const body = group.addEntryBlock();
    builder.setInsertionPointToStart(body);
    mlir::IRMapping values;
    values.map(arguments, body->getArguments());
    llvm::SetVector<Value> captured;
    mlir::getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (const Value value : captured) {
      if (is_number(value)) builder.clone(*value.getDefiningOp(), values);
    }
    builder.create<mlir::func::ReturnOp>(op.getLoc(), builder.clone(*op, values)->getResults());
    return group;
  }

  mlir::ModuleOp module_;
  GroupNames names_;
};

}  // namespace

void outline_scatters(mlir::ModuleOp module) {
  Outliner outliner(module);
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    SmallVector<linalg::GenericOp> scatters;
    function.walk([&](linalg::GenericOp op) {
      if (codegen::find_scatter(op)) scatters.push_back(op);
    });
    for (linalg::GenericOp op : scatters) outliner.outline(op, function.getSymName());
  }
}

}  // namespace baton::compiler_lite::schedule
