#include "compiler-lite/lower/upstream_tosa.hpp"

#include "compiler-lite/codegen/resolve_dims.hpp"
#include "compiler-lite/dialects/all.hpp"
#include "compiler-lite/lower/later_tosa.hpp"
#include "compiler-lite/placement/place.hpp"
#include "llvm/Support/SourceMgr.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToMLProgram/TosaToMLProgram.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file lists MLIR's passes.

namespace {

bool has_elements(Value value, llvm::function_ref<bool(Type)> is) { return is(getElementTypeOrSelf(value.getType())); }

template <typename Op>
void replace(Operation* op) {
  OpBuilder builder(op);
  op->replaceAllUsesWith(builder.create<Op>(op->getLoc(), op->getResultTypes(), op->getOperands(), op->getAttrs()));
  op->erase();
}

// Mends what upstream's passes get wrong: they take i1 for a number with a sign, and have no largest float below a
// 64-bit integer.
void replace_what_goes_wrong(Operation* op) {
  const auto is_bool = [](Type type) { return type.isInteger(1); };
  if (auto cast = dyn_cast<tosa::CastOp>(op)) {
    const bool is_float = has_elements(cast.getInput(), [](Type type) { return isa<FloatType>(type); });
    if (!is_float || !has_elements(cast.getOutput(), [](Type type) { return type.isInteger(64); })) return;
    OpBuilder builder(op);
    const Value whole = builder.create<math::RoundEvenOp>(op->getLoc(), cast.getInput());
    cast.replaceAllUsesWith(builder.create<arith::FPToSIOp>(op->getLoc(), cast.getType(), whole).getResult());
    op->erase();
  } else if (op->getNumOperands() == 0 || !has_elements(op->getOperand(0), is_bool)) {
    return;
  } else if (isa<tosa::ReduceMaxOp>(op)) {
    replace<tosa::ReduceAnyOp>(op);
  } else if (isa<tosa::ReduceMinOp>(op)) {
    replace<tosa::ReduceAllOp>(op);
  } else if (isa<tosa::MaximumOp>(op)) {
    replace<tosa::LogicalOrOp>(op);
  } else if (isa<tosa::MinimumOp>(op)) {
    replace<tosa::LogicalAndOp>(op);
  }
}

LogicalResult run_passes(ModuleOp module) {
  module.walk([](Operation* op) { replace_what_goes_wrong(op); });
  PassManager passes(module.getContext());
  OpPassManager& functions = passes.nest<func::FuncOp>();
  functions.addPass(tosa::createTosaOptionalDecompositions());
  functions.addPass(codegen::create_canonicalizer());
  functions.addPass(tosa::createTosaInferShapesPass());
  functions.addPass(tosa::createTosaMakeBroadcastablePass());
  // Before what would take the end of a region, and a scatter, for an operation of its own.
  functions.addPass(tosa::createTosaToSCF());
  functions.addPass(tosa::createTosaToLinalgNamed());
  functions.addPass(codegen::create_canonicalizer());
  functions.addPass(tosa::createTosaLayerwiseConstantFoldPass());
  functions.addPass(tosa::createTosaMakeBroadcastablePass());
  functions.addPass(tosa::createTosaToLinalg());
  functions.addPass(tosa::createTosaToArith(/*includeApplyRescale=*/true));
  functions.addPass(tosa::createTosaToTensor());
  passes.addPass(createTosaToMLProgram());
  passes.addPass(codegen::create_canonicalizer());
  passes.addPass(createCSEPass());
  return passes.run(module);
}

// Each operation keeps its place in the source.
std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  module.print(stream, flags);
  return text;
}

bool has_tosa(ModuleOp module) {
  return module
      .walk([](Operation* op) {
        const bool is_tosa = isa_and_nonnull<tosa::TosaDialect>(op->getDialect());
        return is_tosa ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

std::optional<LoweredTosa> lower_form_of_19(llvm::StringRef source, llvm::StringRef name, bool was_later) {
  DialectRegistry registry;
  register_dialects_but_tosa(registry);
  registry.insert<tosa::TosaDialect, ml_program::MLProgramDialect, index::IndexDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  context.loadAllAvailableDialects();
  LoweredTosa lowered;
  llvm::raw_string_ostream diagnostics(lowered.diagnostics);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(source, name), llvm::SMLoc());
  const SourceMgrDiagnosticHandler handler(sources, &context, diagnostics);
  const OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module || !(was_later || has_tosa(*module))) return std::nullopt;
  // These passes don't keep what operations say of devices.
  lowered.ok = succeeded(placement::place(*module)) && succeeded(run_passes(*module));
  if (lowered.ok) lowered.text = print(*module);
  diagnostics.flush();
  return lowered;
}

}  // namespace

std::optional<LoweredTosa> lower_upstream_tosa(llvm::StringRef source, llvm::StringRef name) {
  if (!source.contains("tosa.")) return std::nullopt;
  std::optional<LoweredTosa> lowered = lower_form_of_19(source, name, /*was_later=*/false);
  if (lowered) return lowered;
  std::optional<EarlierTosa> earlier = earlier_tosa(source, name);
  if (!earlier) return std::nullopt;
  if (!earlier->diagnostics.empty()) return LoweredTosa{false, "", std::move(earlier->diagnostics)};
  return lower_form_of_19(earlier->text, name, /*was_later=*/true);
}

}  // namespace baton::compiler_lite::lower
