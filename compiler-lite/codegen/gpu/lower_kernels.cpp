#include "compiler-lite/codegen/gpu/lower_kernels.hpp"

#include "compiler-lite/codegen/divide_tile.hpp"
#include "compiler-lite/codegen/gpu/threads.hpp"
#include "compiler-lite/codegen/loop_homes.hpp"
#include "compiler-lite/codegen/lower_to_buffers.hpp"
#include "compiler-lite/codegen/temporaries.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

// Each has a number of its own, so that blocks that end in one are not alike: MLIR would make one block of two ways into a
// loop (llvm/optimize.cpp says what becomes of that).
void number_barriers(mlir::ModuleOp kernels) {
  int64_t number = 0;
  mlir::OpBuilder builder(kernels);
  kernels.walk(
      [&](mlir::NVVM::Barrier0Op barrier) { barrier->setAttr("baton.number", builder.getIndexAttr(number++)); });
}

}  // namespace

mlir::LogicalResult lower_kernels(mlir::OwningOpRef<mlir::ModuleOp>& kernels, const Features& features) {
  const TemporaryLimits limits{static_cast<uint64_t>(features.shared_bytes_max), 0};
  bool divided = true;
  while (divided) {
    mlir::OwningOpRef<mlir::ModuleOp> on_tensors = kernels->clone();
    if (mlir::failed(lower_to_buffers(*kernels, Branches::kWriteOneMemory)) ||
        mlir::failed(lower_to_threads(*kernels, features))) {
      return mlir::failure();
    }
    divided = false;
    for (auto kernel : kernels->getOps<mlir::func::FuncOp>()) {
      if (kernel.isExternal() || placed_bytes(kernel) <= limits.local_bytes) continue;
      auto large = on_tensors->lookupSymbol<mlir::func::FuncOp>(kernel.getSymName());
      divided = (large && divide_tile(large)) || divided;
    }
    if (divided) kernels = std::move(on_tensors);
  }
  if (mlir::failed(place_temporaries(*kernels, limits)) || mlir::failed(clean_up(*kernels))) return mlir::failure();
  number_barriers(*kernels);
  return mlir::success();
}

bool takes_loops(mlir::OwningOpRef<mlir::ModuleOp> kernels, const Features& features) {
  return mlir::succeeded(lower_kernels(kernels, features)) && !hands_pointers_on(*kernels);
}

}  // namespace baton::compiler_lite::codegen::gpu
