#include "compiler-lite/codegen/temporaries.hpp"

#include <optional>

#include "compiler-lite/codegen/size_bounds.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace memref = mlir::memref;

constexpr uint64_t kAlignment = 64;

uint64_t element_bytes(mlir::Type element) {
  if (const auto complex = llvm::dyn_cast<mlir::ComplexType>(element))
    return 2 * element_bytes(complex.getElementType());
  return llvm::isa<mlir::IndexType>(element) ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8;
}

// The most bytes that `alloc` can take, or nothing when there is no bound.
std::optional<uint64_t> bound_bytes(memref::AllocOp alloc) {
  uint64_t bytes = element_bytes(alloc.getType().getElementType());
  size_t next_dynamic = 0;
  for (const int64_t size : alloc.getType().getShape()) {
    if (!mlir::ShapedType::isDynamic(size)) {
      bytes *= static_cast<uint64_t>(size);
      continue;
    }
    const mlir::Value dynamic = alloc.getDynamicSizes()[next_dynamic++];
    const std::optional<int64_t> bound = most(dynamic);
    if (!bound || *bound < 0) return std::nullopt;
    bytes *= static_cast<uint64_t>(*bound);
  }
  return bytes;
}

uint64_t aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

class Placement {
 public:
  Placement(mlir::func::FuncOp kernel, const TemporaryLimits& limits) : kernel_(kernel), limits_(limits) {}

  mlir::LogicalResult run() {
    llvm::SmallVector<memref::AllocOp> allocs;
    kernel_.walk([&](memref::DeallocOp dealloc) { dealloc.erase(); });
    kernel_.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
    for (memref::AllocOp alloc : allocs) {
      if (mlir::failed(place(alloc))) return mlir::failure();
    }
    if (used_ > 0) {
      kernel_->setAttr(kLocalMemoryBytes, mlir::OpBuilder(kernel_).getI64IntegerAttr(static_cast<int64_t>(used_)));
    }
    return mlir::success();
  }

 private:
  mlir::LogicalResult place(memref::AllocOp alloc) {
    const std::optional<uint64_t> bytes = bound_bytes(alloc);
    if (!bytes) {
      return alloc.emitError("The kernel '") << kernel_.getSymName() << "' needs temporary memory of type "
                                             << alloc.getType() << ", whose size has no bound when compiling.";
    }
    if (*bytes <= limits_.stack_bytes && alloc.getType().hasStaticShape()) {
      mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(&kernel_.getBody().front());
      auto stack =
          builder.create<memref::AllocaOp>(alloc.getLoc(), alloc.getType(), builder.getI64IntegerAttr(kAlignment));
      alloc.replaceAllUsesWith(stack.getResult());
      alloc.erase();
      return mlir::success();
    }
    const uint64_t at = used_;
    used_ += aligned(*bytes);
    if (used_ > limits_.local_bytes) {
      return alloc.emitError("The kernel '")
             << kernel_.getSymName() << "' needs " << used_ << " bytes of temporary memory; a workgroup has "
             << limits_.local_bytes << ".";
    }
    mlir::OpBuilder builder(alloc);
    const mlir::Value offset = builder.create<mlir::arith::ConstantIndexOp>(alloc.getLoc(), static_cast<int64_t>(at));
    auto view = builder.create<memref::ViewOp>(alloc.getLoc(), alloc.getType(), local_memory(), offset,
                                               alloc.getDynamicSizes());
    alloc.replaceAllUsesWith(view.getResult());
    alloc.erase();
    return mlir::success();
  }

  mlir::Value local_memory() {
    if (local_) return local_;
    auto module = kernel_->getParentOfType<mlir::ModuleOp>();
    const auto type = mlir::MemRefType::get({static_cast<int64_t>(limits_.local_bytes)},
                                            mlir::IntegerType::get(kernel_.getContext(), 8));
    if (!module.lookupSymbol(kLocalMemory)) {
      mlir::OpBuilder at_start = mlir::OpBuilder::atBlockBegin(module.getBody());
      at_start.create<memref::GlobalOp>(kernel_.getLoc(), kLocalMemory, at_start.getStringAttr("private"), type,
                                        mlir::Attribute(), /*constant=*/false, mlir::IntegerAttr());
    }
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(&kernel_.getBody().front());
    local_ = builder.create<memref::GetGlobalOp>(kernel_.getLoc(), type, kLocalMemory);
    return local_;
  }

  mlir::func::FuncOp kernel_;
  const TemporaryLimits& limits_;
  mlir::Value local_;
  uint64_t used_ = 0;
};

}  // namespace

uint64_t temporary_bytes(mlir::Operation* code) {
  uint64_t bytes = 0;
  code->walk([&](memref::AllocOp alloc) { bytes += aligned(bound_bytes(alloc).value_or(0)); });
  return bytes;
}

mlir::LogicalResult place_temporaries(mlir::ModuleOp kernels, const TemporaryLimits& limits) {
  for (auto kernel : kernels.getOps<mlir::func::FuncOp>()) {
    if (!kernel.isExternal() && mlir::failed(Placement(kernel, limits).run())) return mlir::failure();
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::codegen
