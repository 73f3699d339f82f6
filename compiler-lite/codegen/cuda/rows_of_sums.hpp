// How a product's sums get from tensor cores to memory. Four threads that follow each other have two neighbours each of every eight
// elements in a row of C: written as they are, results of two bytes would fill half of the 32 bytes that memory takes at once.
#pragma once

#include "compiler-lite/codegen/gpu/accesses.hpp"
#include "compiler-lite/codegen/product.hpp"

namespace baton::compiler_lite::codegen::cuda {

// Neighbours in a row of C that a thread has, and that it may have after an exchange.
inline constexpr int64_t kNeighbours = 2, kManyNeighbours = 8;
// What a thread has of four times eight elements of a row.
inline constexpr int64_t kExchanged = 4 * kNeighbours;

// How many a thread had best write at once: all eight of small results of short sums, where rows begin at multiples of eight
// elements.
int64_t neighbours_written(const Product& product);

// All threads of a warp give what they have of four times eight elements of a row, f32, in order; the i-th of four threads gets the
// i-th eight. `lane`: the thread's place in the warp.
gpu::Values exchange_sums(mlir::OpBuilder& builder, mlir::Location location, mlir::Value lane, mlir::ValueRange sums);

}  // namespace baton::compiler_lite::codegen::cuda
