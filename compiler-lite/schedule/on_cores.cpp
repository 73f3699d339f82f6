#include "compiler-lite/schedule/on_cores.hpp"

#include "compiler-lite/dialects/util/dialect.hpp"
#include "mlir/IR/SymbolTable.h"

namespace baton::compiler_lite::schedule {
namespace {

constexpr llvm::StringLiteral kOnCores = "baton.on_cores";

}  // namespace

mlir::LogicalResult choose_functions(mlir::ModuleOp module, bool on_cores) {
  const mlir::SymbolTable symbols(module);
  llvm::DenseMap<mlir::StringAttr, mlir::FlatSymbolRefAttr> chosen;
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    const auto name = function->getAttrOfType<mlir::FlatSymbolRefAttr>(kOnCores);
    if (!name) continue;
    auto other = symbols.lookup<util::FuncOp>(name.getAttr());
    if (!other || other.isExternal() || other.getFunctionType() != function.getFunctionType()) {
      return function.emitOpError("has ") << kOnCores << " = " << name << ", which is no function of its type";
    }
    function->removeAttr(kOnCores);
    if (on_cores) chosen[function.getSymNameAttr()] = name;
  }
  if (chosen.empty()) return mlir::success();
  module.walk([&](util::CallOp call) {
    if (const auto name = chosen.lookup(call.getCalleeAttr().getAttr())) call.setCalleeAttr(name);
  });
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
