#include "compiler-lite/schedule/on_cores.hpp"

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "llvm/ADT/SetVector.h"
#include "mlir/IR/SymbolTable.h"

namespace baton::compiler_lite::schedule {
namespace {

constexpr llvm::StringLiteral kOnCores = "baton.on_cores", kOneKernel = "baton.one_kernel";

bool is_known(mlir::Type type) {
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

// What a function does stands in a region, which becomes a kernel as it is.
mlir::LogicalResult make_one_kernel(util::FuncOp function) {
  if (!function.getBody().hasOneBlock() || !llvm::all_of(function.getResultTypes(), is_known)) {
    return function.emitOpError("is no kernel: it has several blocks, or results that are no tensors of known sizes");
  }
  mlir::Block& body = function.getBody().front();
  mlir::Operation* end = body.getTerminator();
  mlir::OpBuilder builder(end);
  auto region = builder.create<flow::DispatchRegionOp>(function.getLoc(), end->getOperandTypes(), mlir::ValueRange(),
                                                       mlir::ValueRange());
  mlir::Block* kernel = builder.createBlock(&region.getBody());
  kernel->getOperations().splice(kernel->end(), body.getOperations(), body.begin(), mlir::Block::iterator(region));
  builder.setInsertionPointToEnd(kernel);
  builder.create<flow::ReturnOp>(function.getLoc(), end->getOperands());
  end->setOperands(region.getResults());
  return mlir::success();
}

}  // namespace

mlir::LogicalResult choose_functions(mlir::ModuleOp module, bool on_cores) {
  mlir::SymbolTable symbols(module);
  llvm::DenseMap<mlir::StringAttr, mlir::FlatSymbolRefAttr> chosen;
  llvm::SetVector<mlir::Operation*> left;
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    const auto name = function->getAttrOfType<mlir::FlatSymbolRefAttr>(kOnCores);
    if (!name) continue;
    auto other = symbols.lookup<util::FuncOp>(name.getAttr());
    if (!other || other.isExternal() || other.getFunctionType() != function.getFunctionType()) {
      return function.emitOpError("has ") << kOnCores << " = " << name << ", which is no function of its type";
    }
    function->removeAttr(kOnCores);
    if (on_cores) chosen[function.getSymNameAttr()] = name;
    left.insert(on_cores ? function : other);
    if (on_cores && other->removeAttr(kOneKernel) && mlir::failed(make_one_kernel(other))) return mlir::failure();
  }
  module.walk([&](util::CallOp call) {
    if (const auto name = chosen.lookup(call.getCalleeAttr().getAttr())) call.setCalleeAttr(name);
  });
  for (mlir::Operation* function : left) {
    const bool is_private = llvm::cast<util::FuncOp>(function).isPrivate();
    if (is_private && mlir::SymbolTable::symbolKnownUseEmpty(function, module)) symbols.erase(function);
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
