// Attention (codegen/attention.hpp) as one group, where all targets of a program have code for it.
#pragma once

#include "compiler-lite/codegen/attention.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// Marks the last operation of each attention that `takes` says yes to, and whose values in between no other operation reads.
void mark_attention(mlir::ModuleOp module, llvm::function_ref<bool(const codegen::Attention&)> takes);

// That which ends with the marked operation `root`; nothing: it isn't marked.
std::optional<codegen::Attention> marked_attention(mlir::Operation* root);
// What is computed with the marked operation `root`, the last one first; empty: it isn't marked, or a library has a part
// of it.
llvm::SmallVector<mlir::Operation*> attention_of(mlir::Operation* root);

}  // namespace baton::compiler_lite::schedule
