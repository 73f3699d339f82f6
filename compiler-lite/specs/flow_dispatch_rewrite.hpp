// The native rewrite of PDL specs: values of the program come out of a dispatch of a function that the user brings.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::specs {

struct FlowDispatchRewrite {
  mlir::Operation* root;                    // the dispatch stands before it
  llvm::StringRef function;                 // the user's function
  llvm::SmallVector<mlir::Value> inputs;    // tensors
  llvm::SmallVector<mlir::Value> replaced;  // tensors
  llvm::SmallVector<mlir::Value>
      replaced_dims;                      // of all replaced values in order; constants may stand in or be left out
  llvm::SmallVector<mlir::Value> others;  // scalars
};

// The dialects of what is made; before any is.
void load_dispatch_dialects(mlir::MLIRContext* context);

// Makes the executable that calls the function, unless the program has it, and the dispatch.
mlir::LogicalResult rewrite_as_flow_dispatch(mlir::PatternRewriter& rewriter, const FlowDispatchRewrite& rewrite);

}  // namespace baton::compiler_lite::specs
