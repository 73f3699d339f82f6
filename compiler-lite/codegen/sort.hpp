// sort: rows of integers in ascending order, as blocks of threads do it: by a bitonic network.
//
// A row has 2^n numbers. Step (s, b) compares numbers whose places differ in bit b alone; the smaller one comes first where
// bit s of the place is 0 or s is n, else last. Steps (1, 0), (2, 1), (2, 0), (3, 2) ... (n, 0), in this order, sort. Numbers
// whose places differ in a few bits only are compared without memory in between: a thread holds all of them.
//
//   tiles     all steps of bits below that of a tile, which a workgroup holds: in memory of its own, a few bits at a time
//   strides   steps of a few higher bits: a thread holds numbers that lie apart
#pragma once

#include <cstdint>
#include <vector>

#include "compiler-lite/codegen/distribute.hpp"

namespace baton::compiler_lite::codegen {

// An attribute of groups that are nothing else: the numbers s and b of their steps in turn.
inline constexpr llvm::StringLiteral kSortSteps = "baton.sort_steps";

struct SortStep {
  unsigned run, bit;
};

// What one kernel does of a sort. All in a tile, or all bits within kSortBitsMax of each other.
using SortSteps = std::vector<SortStep>;
inline constexpr unsigned kSortBitsMax = 4;

mlir::DenseI64ArrayAttr write_sort_steps(mlir::OpBuilder& builder, const SortSteps& steps);
SortSteps read_sort_steps(mlir::DenseI64ArrayAttr steps);

// Whether rows of this type are sorted so: 2^n integers of 32 or 64 bits, and enough of them.
bool takes_sort(mlir::RankedTensorType rows);
// The kernels that sort them, in order.
std::vector<SortSteps> plan_sort(mlir::RankedTensorType rows);

// Rewrites a kernel of such a group, which writes its only argument in place; gives the grid.
mlir::FailureOr<mlir::AffineMap> make_sort_kernel(mlir::func::FuncOp kernel, const Destination& destination,
                                                  const SortSteps& steps, unsigned symbol_count);

}  // namespace baton::compiler_lite::codegen
