#include "compiler-lite/codegen/llvm/bool_bytes.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace baton::compiler_lite::codegen {
namespace {

bool is_bool(const llvm::Type* type) { return type->isIntegerTy(1); }

void load_byte(llvm::LoadInst& load) {
  llvm::IRBuilder<> builder(&load);
  llvm::LoadInst* const byte =
      builder.CreateAlignedLoad(builder.getInt8Ty(), load.getPointerOperand(), load.getAlign());
  byte->setAAMetadata(load.getAAMetadata());
  load.replaceAllUsesWith(builder.CreateTrunc(byte, load.getType()));
  load.eraseFromParent();
}

void store_byte(llvm::StoreInst& store) {
  llvm::IRBuilder<> builder(&store);
  llvm::Value* const byte = builder.CreateZExt(store.getValueOperand(), builder.getInt8Ty());
  builder.CreateAlignedStore(byte, store.getPointerOperand(), store.getAlign())->setAAMetadata(store.getAAMetadata());
  store.eraseFromParent();
}

}  // namespace

llvm::PreservedAnalyses BoolBytes::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    // Each replaces the instruction, which is gone then.
    auto* const load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    auto* const store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (load && load->isSimple() && is_bool(load->getType())) {
      load_byte(*load);
      changed = true;
    } else if (store && store->isSimple() && is_bool(store->getValueOperand()->getType())) {
      store_byte(*store);
      changed = true;
    }
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace baton::compiler_lite::codegen
