#include "compiler-lite/codegen/gpu/lower_kernels.hpp"

#include "compiler-lite/codegen/divide_tile.hpp"
#include "compiler-lite/codegen/gpu/threads.hpp"
#include "compiler-lite/codegen/loop_homes.hpp"
#include "compiler-lite/codegen/lower_to_buffers.hpp"
#include "compiler-lite/codegen/temporaries.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace baton::compiler_lite::codegen::gpu {

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
  return mlir::success(mlir::succeeded(place_temporaries(*kernels, limits)) && mlir::succeeded(clean_up(*kernels)));
}

bool takes_loops(mlir::OwningOpRef<mlir::ModuleOp> kernels, const Features& features) {
  return mlir::succeeded(lower_kernels(kernels, features)) && !hands_pointers_on(*kernels);
}

}  // namespace baton::compiler_lite::codegen::gpu
