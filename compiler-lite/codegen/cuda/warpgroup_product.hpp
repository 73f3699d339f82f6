// write_warpgroup_product: a product of f16 or bf16 matrices by warpgroups (sm_90a), summed in f32.
#pragma once

#include "compiler-lite/codegen/gpu/block.hpp"
#include "compiler-lite/codegen/product.hpp"

namespace baton::compiler_lite::codegen::cuda {

// By the 256 threads of `block`; a gpu::ProductWriter. Makes all turns of the sum.
bool write_warpgroup_product(mlir::OpBuilder& builder, mlir::Location location, const Product& product,
                             gpu::Block& block, bool from_zero);

}  // namespace baton::compiler_lite::codegen::cuda
