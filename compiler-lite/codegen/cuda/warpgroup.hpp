// What warpgroups (four warps that begin at a multiple of four) multiply with: matrices in shared memory, sums in
// registers, and instructions that go on while the threads do other work. For sm_90a.
#pragma once

#include "compiler-lite/codegen/gpu/loop_body.hpp"

namespace baton::compiler_lite::codegen::cuda::warpgroup {

using gpu::Values;

// How a slice lies in shared memory: lines of 128 bytes, whose eight groups of 16 bytes stand in another order in each of
// eight lines (by exclusive or with the line's number). Atoms of eight lines begin at multiples of 1024 bytes.
inline constexpr int64_t kLineBytes = 128, kAtomBytes = 8 * kLineBytes;
inline constexpr int64_t kRows = 64, kSteps = 16;  // Of one instruction.

// What tells an instruction where a matrix lies, for an address in shared memory (i64). `along_k`: a line holds
// steps of one row or column, and atoms follow each other; else a line holds 64 rows or columns of one step, and the next
// 64 stand `panel_bytes` further on.
mlir::Value describe(mlir::OpBuilder& builder, mlir::Location location, mlir::Value address, bool along_k,
                     int64_t panel_bytes);

// sums += a * b for several descriptions of 64 x 16 and 16 x `columns`, one after the other, as one group; elements
// f16 or bf16, columns / 2 sums in f32. `a_along_k` and `b_along_k` as above. The sums may only be handed to the next
// multiplication, or to `wait_for_sums`. Without `sums` it begins from zero, with `sum_count` of them.
Values multiply(mlir::OpBuilder& builder, mlir::Location location, mlir::Type element, mlir::ValueRange a,
                mlir::ValueRange b, bool a_along_k, bool b_along_k, mlir::ValueRange sums, size_t sum_count = 0);

// The same with A in registers, four of each thread for 16 steps, as the sums of another product lie; all of it is waited for.
// They must be new ones: ptxas 13.0 gives those that a loop uses in each of its turns to others in between.
Values multiply_registers(mlir::OpBuilder& builder, mlir::Location location, mlir::Type element,
                          llvm::ArrayRef<Values> a, mlir::ValueRange b, bool b_along_k, mlir::ValueRange sums);

// Waits until all but the last `count` groups are done; the sums of those that are not stay as they are.
void wait_for_groups(mlir::OpBuilder& builder, mlir::Location location, int64_t count);
// Waits for all; the sums are numbers then.
Values wait_for_sums(mlir::OpBuilder& builder, mlir::Location location, mlir::ValueRange sums);

// What this thread has written to shared memory is seen by multiplications after the next barrier.
void show_writes(mlir::OpBuilder& builder, mlir::Location location);

}  // namespace baton::compiler_lite::codegen::cuda::warpgroup
