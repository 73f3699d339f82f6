#include "compiler-lite/codegen/cuda/cluster.hpp"

#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace baton::compiler_lite::codegen::cuda::cluster {

namespace LLVM = mlir::LLVM;
namespace NVVM = mlir::NVVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

void barrier(OpBuilder& builder, Location location) {
  builder.create<NVVM::ClusterArriveOp>(location, builder.getUnitAttr());
  builder.create<NVVM::ClusterWaitOp>(location, builder.getUnitAttr());
}

// The optimizer must not take it for an address that it knows, nor move it before the barrier.
Value address(OpBuilder& builder, Location location, Value shared, int64_t block) {
  const Value number = builder.create<LLVM::PtrToIntOp>(location, builder.getI64Type(), shared);
  auto mapped = builder.create<LLVM::InlineAsmOp>(location, mlir::TypeRange(builder.getI64Type()),
                                                  ValueRange{number, make_i32(builder, location, block)},
                                                  "mapa.u64 $0, $1, $2;", "=l,l,r", /*has_side_effects=*/true,
                                                  /*is_align_stack=*/false, LLVM::AsmDialectAttr(), mlir::ArrayAttr());
  return builder.create<LLVM::IntToPtrOp>(location, shared.getType(), mapped->getResult(0));
}

}  // namespace baton::compiler_lite::codegen::cuda::cluster
