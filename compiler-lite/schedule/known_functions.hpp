// Functions that say what they compute, for targets whose workgroups are all blocks of threads, which have kernels for it.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

//   baton.sorts_rows    gives its argument, rows of integers with a sign, in ascending order (codegen/sort.hpp)
//   baton.fourier       transforms lines of complex numbers (codegen/fourier.hpp)
//   baton.rotates       turns lines until they are orthogonal, baton.factors: factors matrices (codegen/matrix_work.hpp)
//
// Where workgroups are blocks, `on_blocks`, each with so many bytes of its own, such a function becomes dispatches that do so;
// else, and where they take no such operands, it stays what it is.
void outline_known_functions(mlir::ModuleOp module, bool on_blocks, int64_t local_bytes);

}  // namespace baton::compiler_lite::schedule
