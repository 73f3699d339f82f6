#include "compiler-lite/codegen/gpu/factors.hpp"

#include "compiler-lite/codegen/gpu/cholesky.hpp"
#include "compiler-lite/codegen/gpu/held_matrix.hpp"
#include "compiler-lite/codegen/gpu/lu.hpp"
#include "compiler-lite/codegen/gpu/reflections.hpp"
#include "llvm/Support/MathExtras.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

constexpr int64_t kThreadsMax = 1024, kThreadsOfWideMax = 512;
constexpr int64_t kNumbersOfThread = 8;
// Where several blocks do a matrix, or one a small part: a warp for each column that is reflected.
constexpr int64_t kThreadsOfPart = kColumnsReflected * kWarp;

int64_t threads_of(mlir::func::FuncOp kernel) {
  const mlir::MemRefType matrices = binding_type(kernel, 0);
  const FactorKind kind = *read_factors(kernel);
  if (solves(kind) || kind == FactorKind::kPermutation) return kThreadsOfPart;
  switch (kind) {
    case FactorKind::kCholeskyRest:
    case FactorKind::kLuRest:
    case FactorKind::kQrRest:
    case FactorKind::kReflect: return kThreadsOfPart;
    default: break;
  }
  const auto panel = kernel->getAttrOfType<mlir::IntegerAttr>(kPanelColumns);
  const int64_t numbers = matrices.getDimSize(1) * (panel ? panel.getInt() : matrices.getDimSize(2));
  const auto wanted = static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(numbers / kNumbersOfThread)));
  return std::clamp(wanted, kWarp, matrices.getElementType().isF64() ? kThreadsOfWideMax : kThreadsMax);
}

}  // namespace

void write_factors_kernel(mlir::func::FuncOp kernel, const Features& features) {
  const FactorKind kind = *read_factors(kernel);
  kernel->setAttr("workgroup_size", mlir::OpBuilder(kernel).getIndexArrayAttr({threads_of(kernel), 1, 1}));
  switch (kind) {
    case FactorKind::kCholesky:
    case FactorKind::kCholeskyPanel:
    case FactorKind::kCholeskyRest:
    case FactorKind::kSolveLower:
    case FactorKind::kSolveUpper:
    case FactorKind::kSolveLowerUnit:
    case FactorKind::kSolveUpperUnit: write_cholesky(kernel, kind, features); break;
    case FactorKind::kLu:
    case FactorKind::kLuPanel:
    case FactorKind::kLuRest:
    case FactorKind::kPermutation: write_lu(kernel, kind, features); break;
    case FactorKind::kReflections:  // They are kReflect.
    case FactorKind::kQr:
    case FactorKind::kQrPanel:
    case FactorKind::kQrRest:
    case FactorKind::kReflect: write_reflections(kernel, kind, features); break;
  }
  kernel->removeAttr(kFactors);
  kernel->removeAttr(kPanelColumns);
  kernel->removeAttr(kBindingTypes);
}

}  // namespace baton::compiler_lite::codegen::gpu
