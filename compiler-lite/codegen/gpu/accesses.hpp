// Accesses of several elements at once: addresses by hand, where memref has loads of one element only.
#pragma once

#include "compiler-lite/codegen/gpu/loop_body.hpp"

namespace baton::compiler_lite::codegen::gpu {

// The widest access of a thread.
inline constexpr int64_t kAccessBytes = 16;

// Elements through memory of whole bytes, as integers where vectors of the type itself are rare.
mlir::Type stored_type(mlir::Type element);
mlir::Value from_stored(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value, mlir::Type element);
mlir::Value to_stored(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value);
int64_t stored_bytes(mlir::Type element);

// A memref as its first element's address and its strides.
struct Memory {
  mlir::Type element;
  mlir::Value base;
  Values strides;
};
Memory open_memory(mlir::OpBuilder& builder, mlir::Location location, mlir::Value memory);

// Where the element with these indices lies; the last dimension's stride is one.
mlir::Value address_of(mlir::OpBuilder& builder, mlir::Location location, const Memory& memory,
                       mlir::ValueRange indices);

// The same where any dimension may have any stride.
mlir::Value strided_address_of(mlir::OpBuilder& builder, mlir::Location location, const Memory& memory,
                               mlir::ValueRange indices);

// The bits of an address that are set in any of a memory's rows, as i64: what an access of `bytes` wants to be zero.
// Elements follow each other along `fastest`; -1: along the last dimension.
mlir::Value unaligned_bits(mlir::OpBuilder& builder, mlir::Location location, const Memory& memory, int64_t bytes,
                           int fastest = -1);

// `count` elements from there on, one value for each; and back.
Values load_elements(mlir::OpBuilder& builder, mlir::Location location, const Memory& memory, mlir::Value address,
                     int64_t count);
void store_elements(mlir::OpBuilder& builder, mlir::Location location, const Memory& memory, mlir::Value address,
                    mlir::ValueRange elements);

}  // namespace baton::compiler_lite::codegen::gpu
