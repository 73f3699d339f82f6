// Unsigned and signed integers, as frontends have them at the boundary, become signless ones, which operations compute
// on. What the caller sees stays: the type of an argument or result of an exported function is its iree.abi.encoding.
#include "compiler-lite/lower/lower.hpp"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

constexpr StringRef kEncoding = "iree.abi.encoding";

Type signless(Type type) {
  if (const auto tensor = dyn_cast<RankedTensorType>(type)) {
    return RankedTensorType::get(tensor.getShape(), signless(tensor.getElementType()), tensor.getEncoding());
  }
  const auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSignless()) return type;
  return IntegerType::get(type.getContext(), integer.getWidth());
}

bool changes(Type type) { return signless(type) != type; }

void convert_signature(FunctionOpInterface function) {
  const auto type = dyn_cast<FunctionType>(function.getFunctionType());
  if (!type || llvm::none_of(llvm::concat<const Type>(type.getInputs(), type.getResults()), changes)) return;
  SmallVector<Type> inputs, results;
  for (unsigned i = 0; i < type.getNumInputs(); ++i) {
    inputs.push_back(signless(type.getInput(i)));
    if (inputs.back() != type.getInput(i) && !function.getArgAttr(i, kEncoding)) {
      function.setArgAttr(i, kEncoding, TypeAttr::get(type.getInput(i)));
    }
  }
  for (unsigned i = 0; i < type.getNumResults(); ++i) {
    results.push_back(signless(type.getResult(i)));
    if (results.back() != type.getResult(i) && !function.getResultAttr(i, kEncoding)) {
      function.setResultAttr(i, kEncoding, TypeAttr::get(type.getResult(i)));
    }
  }
  function.setFunctionTypeAttr(TypeAttr::get(FunctionType::get(type.getContext(), inputs, results)));
}

}  // namespace

LogicalResult signless_boundary(ModuleOp module) {
  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk([&](Operation* op) {
    if (auto function = dyn_cast<FunctionOpInterface>(op)) convert_signature(function);
    for (OpResult result : op->getResults()) result.setType(signless(result.getType()));
    for (Region& region : op->getRegions()) {
      for (Block& block : region) {
        for (BlockArgument argument : block.getArguments()) argument.setType(signless(argument.getType()));
      }
    }
    if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op)) casts.push_back(cast);
  });
  for (UnrealizedConversionCastOp cast : casts) {
    if (cast.getOperandTypes() != cast.getResultTypes()) continue;
    cast.replaceAllUsesWith(cast.getOperands());
    cast.erase();
  }
  return success();
}

}  // namespace baton::compiler_lite::lower
