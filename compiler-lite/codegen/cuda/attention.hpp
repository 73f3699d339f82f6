// write_attention: attention in one pass over the keys, by tensor cores.
#pragma once

#include "compiler-lite/codegen/attention.hpp"
#include "compiler-lite/codegen/gpu/features.hpp"

namespace baton::compiler_lite::codegen::cuda {

// Whether there is code for it on devices with these features.
bool takes_attention(const Attention& attention, const gpu::Features& features);
// Instead of the operations on memrefs that `kernel` holds. A workgroup takes kAttentionRows rows.
mlir::LogicalResult write_attention(mlir::func::FuncOp kernel, const gpu::Features& features);

}  // namespace baton::compiler_lite::codegen::cuda
