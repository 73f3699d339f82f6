// QuickPasses: a list of passes that doesn't check the program after each of them; who runs it checks what comes out.
//
// Checking after each pass took half of the time that MLIR had; builds with assertions still do.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

namespace baton::compiler_lite::codegen {

class QuickPasses : public mlir::PassManager {
 public:
  explicit QuickPasses(mlir::ModuleOp kernels) : mlir::PassManager(kernels.getContext()) {
#ifdef NDEBUG
    enableVerifier(false);
#endif
  }
};

}  // namespace baton::compiler_lite::codegen
