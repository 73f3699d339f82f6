#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/schedule/outline.hpp"
#include "mlir/IR/IRMapping.h"

namespace baton::compiler_lite::schedule {
namespace {

using mlir::OpBuilder;

mlir::LogicalResult outline(hal::DispatchExternOp op, unsigned number, mlir::ModuleOp module) {
  // Without any object it is for the host to have, under the name of the kernel.
  const bool is_of_host = llvm::all_of(
      op.getTargetObjects(), [](mlir::Attribute objects) { return llvm::cast<mlir::ArrayAttr>(objects).empty(); });
  const std::string name = "extern_dispatch_" + std::to_string(number);
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  const auto private_ = builder.getStringAttr("private");
  auto executable =
      builder.create<hal::ExecutableOp>(op.getLoc(), private_, /*lazy=*/nullptr, builder.getStringAttr(name));
  if (is_of_host) executable->setAttr(kRegisteredName, op.getExportNameAttr());
  builder.createBlock(&executable.getBody());
  for (unsigned i = 0; i < op.getTargets().size(); ++i) {
    builder.setInsertionPointToEnd(&executable.getBody().front());
    const auto target = llvm::cast<hal::ExecutableTargetAttr>(op.getTargets()[i]);
    const std::string variant_name = target.getFormat().str() + "_" + std::to_string(i);
    auto variant = builder.create<hal::ExecutableVariantOp>(
        op.getLoc(), mlir::StringAttr(), builder.getStringAttr(variant_name), target,
        llvm::cast<mlir::ArrayAttr>(op.getTargetObjects()[i]), mlir::DictionaryAttr());
    builder.createBlock(&variant.getBody());
    if (mlir::Region& condition = op.getTargetConditions()[i]; !condition.empty()) {
      auto chosen = builder.create<hal::ExecutableConditionOp>(op.getLoc());
      mlir::IRMapping values;
      condition.cloneInto(&chosen.getBody(), values);
      builder.setInsertionPointAfter(chosen);
    }
    auto entry = builder.create<hal::ExecutableExportOp>(op.getLoc(), mlir::StringAttr(), op.getExportNameAttr(),
                                                         builder.getIndexAttr(op.getTargetOrdinals()[i]),
                                                         op.getLayout(), mlir::FlatSymbolRefAttr());
    for (const mlir::NamedAttribute stated : op->getDiscardableAttrs())
      entry->setAttr(stated.getName(), stated.getValue());
    mlir::IRMapping values;
    op.getWorkgroupCount().cloneInto(&entry.getWorkgroupCount(), values);
  }
  builder.setInsertionPoint(op);
  const auto symbol =
      mlir::SymbolRefAttr::get(builder.getContext(), name, {mlir::FlatSymbolRefAttr::get(op.getExportNameAttr())});
  auto dispatch = builder.create<flow::DispatchOp>(op.getLoc(), op.getResultTypes(), op.getWorkload(),
                                                   builder.getArrayAttr({symbol}), op.getArguments(),
                                                   op.getArgumentDims(), op.getResultDims(), op.getTiedOperandsAttr());
  op.replaceAllUsesWith(dispatch.getResults());
  op.erase();
  return mlir::success();
}

}  // namespace

mlir::LogicalResult outline_externs(mlir::ModuleOp module) {
  llvm::SmallVector<hal::DispatchExternOp> found;
  module.walk([&](hal::DispatchExternOp op) { found.push_back(op); });
  for (unsigned i = 0; i < found.size(); ++i) {
    if (mlir::failed(outline(found[i], i, module))) return mlir::failure();
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
