#include "compiler-lite/codegen/llvm/llvm_dialect.hpp"

#include "compiler-lite/codegen/passes.hpp"
#include "llvm/IR/Module.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToFuncs/MathToFuncs.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"

namespace baton::compiler_lite::codegen {
namespace {

mlir::LogicalResult run_to_llvm(mlir::ModuleOp kernels) {
  QuickPasses passes(kernels);
  mlir::ConvertVectorToLLVMPassOptions vector_options;
  vector_options.reassociateFPReductions = true;
  passes.addPass(mlir::createConvertVectorToLLVMPass(vector_options));
  passes.addPass(mlir::createConvertMathToLLVMPass());
  passes.addPass(mlir::createConvertComplexToLLVMPass());
  passes.addPass(mlir::createConvertIndexToLLVMPass());
  passes.addPass(mlir::createArithToLLVMConversionPass());
  passes.addPass(mlir::createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createConvertFuncToLLVMPass());
  passes.addPass(mlir::createUBToLLVMConversionPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  return passes.run(kernels);
}

// What no lowering knows would else be told by the translation, in its own words.
mlir::LogicalResult check_lowered(mlir::ModuleOp kernels, llvm::StringRef place) {
  bool good = true;
  kernels.walk([&](mlir::Operation* op) {
    if (!good || op == kernels.getOperation() ||
        llvm::isa_and_nonnull<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>(op->getDialect())) {
      return;
    }
    op->emitError("'") << op->getName() << "' is not supported in kernels for " << place << ".";
    good = false;
  });
  return mlir::success(good);
}

}  // namespace

mlir::LogicalResult lower_to_blocks(mlir::ModuleOp kernels) {
  QuickPasses passes(kernels);
  passes.addNestedPass<mlir::func::FuncOp>(
      mlir::createConvertVectorToSCFPass(mlir::VectorTransferToSCFOptions().enableFullUnroll()));
  passes.addPass(mlir::memref::createExpandStridedMetadataPass());
  passes.addPass(mlir::createLowerAffinePass());
  passes.addPass(mlir::createConvertMathToFuncs());
  passes.addPass(mlir::createConvertSCFToCFPass());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  return passes.run(kernels);
}

mlir::LogicalResult lower_to_llvm_dialect(mlir::ModuleOp kernels, llvm::StringRef place) {
  if (mlir::failed(run_to_llvm(kernels)) || mlir::failed(check_lowered(kernels, place))) return mlir::failure();
  return mlir::verify(kernels);
}

std::unique_ptr<llvm::Module> translate(mlir::ModuleOp kernels, llvm::LLVMContext& context) {
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
  kernels.getContext()->appendDialectRegistry(registry);
  return mlir::translateModuleToLLVMIR(kernels, context, "kernels");
}

}  // namespace baton::compiler_lite::codegen
