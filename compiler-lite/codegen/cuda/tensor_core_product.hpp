// write_tensor_core_product: a product of f16 or bf16 matrices by the tensor cores, summed in f32.
#pragma once

#include "compiler-lite/codegen/cuda/architectures.hpp"
#include "compiler-lite/codegen/cuda/block.hpp"
#include "compiler-lite/codegen/product.hpp"

namespace baton::compiler_lite::codegen::cuda {

// Whether `product` is one for them on such a device: of their types, and its matrices lie along one of their
// dimensions.
bool is_tensor_core_product(const Product& product, const Features& features);

// By the 256 threads of `block`. `from_zero`: C holds nothing that counts.
void write_tensor_core_product(mlir::OpBuilder& builder, mlir::Location location, const Product& product, Block& block,
                               const Features& features, bool from_zero);

}  // namespace baton::compiler_lite::codegen::cuda
