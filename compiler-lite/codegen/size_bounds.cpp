#include "compiler-lite/codegen/size_bounds.hpp"

#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace baton::compiler_lite::codegen {
namespace {

using Bounds = mlir::ValueBoundsConstraintSet;

std::optional<int64_t> bound_of(const Bounds::Variable& size) {
  const mlir::FailureOr<int64_t> bound = Bounds::computeConstantBound(mlir::presburger::BoundType::UB, size,
                                                                      /*stopCondition=*/nullptr, /*closedUB=*/true);
  return mlir::succeeded(bound) ? std::optional(*bound) : std::nullopt;
}

}  // namespace

std::optional<int64_t> most(mlir::Value size) { return bound_of(size); }
std::optional<int64_t> most(mlir::Value shaped, int64_t dimension) { return bound_of({shaped, dimension}); }

}  // namespace baton::compiler_lite::codegen
