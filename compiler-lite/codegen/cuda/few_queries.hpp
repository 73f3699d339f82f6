// write_few_queries: attention of so few rows of Q that reading K and V is all that takes time, as when a language model
// makes a token.
#pragma once

#include "compiler-lite/codegen/attention.hpp"
#include "compiler-lite/codegen/gpu/block.hpp"

namespace baton::compiler_lite::codegen::cuda {

// Whether it is such a one, of elements of this type. Of a single query only where the workgroups that take a batch are
// enough.
bool has_few_queries(const Attention& attention, mlir::Type element, const gpu::Features& features);
// Of shared memory.
int64_t bytes_of_few_queries(const Attention& attention, mlir::Type element);
int64_t threads_of_few_queries(const Attention& attention, mlir::Type element);
// A workgroup takes all rows of a batch, or some of its keys (key_sharers).
void write_few_queries(mlir::OpBuilder& builder, mlir::Location location, const Attention& attention,
                       gpu::Block& block);

}  // namespace baton::compiler_lite::codegen::cuda
