#include "compiler-lite/lower/lower.hpp"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/DialectConversion.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

// What puts a number together and takes it apart.
bool keeps(Operation* op) {
  return isa<complex::CreateOp, complex::ReOp, complex::ImOp, complex::ConstantOp, complex::BitcastOp>(op);
}

bool computes(Operation* op) { return isa_and_nonnull<complex::ComplexDialect>(op->getDialect()) && !keeps(op); }

// An operation with a name has the body that belongs to it.
LogicalResult show_bodies(ModuleOp module) {
  SetVector<linalg::LinalgOp> named;
  module.walk([&](Operation* op) {
    auto around = dyn_cast_or_null<linalg::LinalgOp>(op->getParentOp());
    if (computes(op) && around && !isa<linalg::GenericOp>(around)) named.insert(around);
  });
  IRRewriter rewriter(module.getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op))) return emitError(op.getLoc()) << "has no body to look at.";
  }
  return success();
}

}  // namespace

LogicalResult complex_numbers_to_parts(ModuleOp module) {
  const bool any =
      module.walk([](Operation* op) { return computes(op) ? WalkResult::interrupt() : WalkResult::advance(); })
          .wasInterrupted();
  if (!any) return success();
  if (failed(show_bodies(module))) return failure();
  MLIRContext* context = module.getContext();
  ConversionTarget target(*context);
  target.addLegalDialect<arith::ArithDialect, math::MathDialect>();
  target.addDynamicallyLegalDialect<complex::ComplexDialect>(keeps);
  RewritePatternSet patterns(context);
  populateComplexToStandardConversionPatterns(patterns);
  return applyPartialConversion(module, target, std::move(patterns));
}

}  // namespace baton::compiler_lite::lower
