// bool_bytes: an element of i1 is loaded and stored as the byte that it takes in memory.
//
// LLVM's vectorizer leaves a loop alone that loads or stores i1, whose bits are fewer than those of its place. Of bytes it
// makes vectors: of masks, for counts and choices, and for what any or all of a column are.
#pragma once

#include "llvm/IR/PassManager.h"

namespace baton::compiler_lite::codegen {

// Right before loops become vectors: what a loop carries in one place is in a register by then, and stays i1, of which
// LLVM knows how to join many.
struct BoolBytes : llvm::PassInfoMixin<BoolBytes> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace baton::compiler_lite::codegen
