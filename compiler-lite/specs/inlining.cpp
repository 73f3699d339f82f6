#include "compiler-lite/specs/inlining.hpp"

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Transforms/InliningUtils.h"

namespace baton::compiler_lite::specs {
namespace {

using mlir::Operation;
using mlir::Region;

// Calls that stay calls whatever the inliner would like.
constexpr llvm::StringLiteral kNoInline = "noinline";

struct InlineUtil : mlir::DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation*, Operation* callable, bool) const final { return !callable->hasAttr(kNoInline); }
  bool isLegalToInline(Region*, Region*, bool, mlir::IRMapping&) const final { return true; }
  bool isLegalToInline(Operation*, Region*, bool, mlir::IRMapping&) const final { return true; }

  void handleTerminator(Operation* op, mlir::ValueRange results) const final {
    for (auto [from, to] : llvm::zip_equal(results, op->getOperands())) from.replaceAllUsesWith(to);
  }
  void handleTerminator(Operation* op, mlir::Block* next) const final {
    auto done = mlir::dyn_cast<util::ReturnOp>(op);
    if (!done) return;
    mlir::OpBuilder builder(op);
    builder.create<mlir::cf::BranchOp>(op->getLoc(), next, done.getOperands());
    op->erase();
  }
};

// Operations that mean the same in any function.
struct InlineAnywhere : mlir::DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Region*, Region*, bool, mlir::IRMapping&) const final { return true; }
  bool isLegalToInline(Operation*, Region*, bool, mlir::IRMapping&) const final { return true; }
};

}  // namespace

void register_inlining(mlir::DialectRegistry& registry) {
  mlir::func::registerInlinerExtension(registry);
  registry.addExtension(+[](mlir::MLIRContext* context, util::UtilDialect* dialect) {
    dialect->addInterfaces<InlineUtil>();
    context->getOrLoadDialect<mlir::cf::ControlFlowDialect>();
  });
  registry.addExtension(
      +[](mlir::MLIRContext*, flow::FlowDialect* dialect) { dialect->addInterfaces<InlineAnywhere>(); });
  registry.addExtension(
      +[](mlir::MLIRContext*, hal::HalDialect* dialect) { dialect->addInterfaces<InlineAnywhere>(); });
}

}  // namespace baton::compiler_lite::specs
