#include "compiler-lite/codegen/llvm/half_extremes.hpp"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace baton::compiler_lite::codegen {
namespace {

bool is_half_extreme(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call || !call->getType()->getScalarType()->isHalfTy()) return false;
  return call->getIntrinsicID() == llvm::Intrinsic::maximum || call->getIntrinsicID() == llvm::Intrinsic::minimum;
}

void widen(llvm::IntrinsicInst& call) {
  llvm::IRBuilder<> builder(&call);
  llvm::Type* wide = call.getType()->getWithNewType(builder.getFloatTy());
  llvm::Value* left = builder.CreateFPExt(call.getArgOperand(0), wide);
  llvm::Value* right = builder.CreateFPExt(call.getArgOperand(1), wide);
  llvm::Value* extreme = builder.CreateBinaryIntrinsic(call.getIntrinsicID(), left, right);
  call.replaceAllUsesWith(builder.CreateFPTrunc(extreme, call.getType()));
  call.eraseFromParent();
}

}  // namespace

void widen_half_extremes(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (is_half_extreme(instruction)) widen(llvm::cast<llvm::IntrinsicInst>(instruction));
    }
  }
}

}  // namespace baton::compiler_lite::codegen
