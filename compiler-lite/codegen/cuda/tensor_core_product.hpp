// write_tensor_core_product: a product by the tensor cores: of f16 or bf16 matrices, summed in f32, or of bytes, summed in i32.
#pragma once

#include "compiler-lite/codegen/gpu/block.hpp"
#include "compiler-lite/codegen/product.hpp"

namespace baton::compiler_lite::codegen::cuda {

// By the 256 threads of `block`, for the architecture whose features it has; a gpu::ProductWriter. False where the types
// are none of theirs, or a matrix lies along neither of its dimensions.
bool write_tensor_core_product(mlir::OpBuilder& builder, mlir::Location location, const Product& product,
                               gpu::Block& block, bool from_zero);

}  // namespace baton::compiler_lite::codegen::cuda
