// What tensor cores are used through: products of small matrices by a warp, and the loads and copies that feed them.
//
// Pointers are to shared memory (address space 3) where nothing else is said.
#pragma once

#include "compiler-lite/codegen/gpu/accesses.hpp"
#include "compiler-lite/codegen/gpu/loop_body.hpp"

namespace baton::compiler_lite::codegen::cuda::tensor_core {

using gpu::Values;

// Four 8 x 8 matrices of 16-bit elements, one i32 of each for every thread of the warp: two elements of row lane / 4,
// from column 2 * (lane % 4) on. Lane i gives the address of row i % 8 of matrix i / 8; `turned` swaps the dimensions.
Values load_matrices(mlir::OpBuilder& builder, mlir::Location location, mlir::Value row, bool turned);

// What is multiplied: f16, bf16, or i8, whose sums are i32.
struct Factors {
  mlir::Type element;
  bool is_unsigned = false;

  bool are_bytes() const { return element.isInteger(8); }
};

// sums += a * b: 16 rows by 8 columns, and 32 bytes of each row's factors; four sums, f32 or i32. In one instruction, or in two
// of half the depth where `wide` is false, which there are for f16 only.
Values multiply(mlir::OpBuilder& builder, mlir::Location location, Factors factors, bool wide, mlir::ValueRange a,
                mlir::ValueRange b, mlir::ValueRange sums);

// Four bytes out of two words: hexadecimal digit i of `which` is the number of byte i, from 0 in `a` on.
mlir::Value choose_bytes(mlir::OpBuilder& builder, mlir::Location location, mlir::Value a, mlir::Value b,
                         int64_t which);
// What the thread of this warp with the number `lane`, an i32, has.
mlir::Value take_from(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value, mlir::Value lane);

// 16 bytes from `source` (address space 1), of which only the first `bytes` are read and the rest is zero.
void copy_async(mlir::OpBuilder& builder, mlir::Location location, mlir::Value target, mlir::Value source,
                mlir::Value bytes);
// What was copied since the last one is a group.
void end_group(mlir::OpBuilder& builder, mlir::Location location);
// Waits until all but the last `count` groups have arrived.
void wait_for_groups(mlir::OpBuilder& builder, mlir::Location location, int64_t count);

// A pointer to any memory as one to this address space.
mlir::Value pointer_in(mlir::OpBuilder& builder, mlir::Location location, mlir::Value pointer, unsigned space);
inline constexpr unsigned kGlobal = 1, kShared = 3;

}  // namespace baton::compiler_lite::codegen::cuda::tensor_core
