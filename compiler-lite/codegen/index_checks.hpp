// index_checks: elements that a body reads by an index that comes from data.
//
// What such an index means outside of its tensor the input language leaves open. Here it means the nearest element: the
// index is held between the first and the last, in two instructions that vectorize, on every device, and a kernel needs
// no way to fail. Under a condition, where the tensor may be empty, an index outside reads a zero instead of memory.
// What is known to be inside is left alone: indices of loops over the same size, constants, and those that the host has
// compared (schedule/check_bounds.hpp), which are marked.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::codegen {

// Says for each index whether it is known to be inside.
void mark_inside(mlir::tensor::ExtractOp extract, llvm::ArrayRef<bool> inside);
// The same of all of them.
void mark_inside(mlir::tensor::ExtractOp extract);

// The same, and that no other element of what the body makes reads that one: the tensor is one of the parts that are put together.
void mark_part(mlir::tensor::ExtractOp extract);
bool is_part(mlir::tensor::ExtractOp extract);
// Only the compiler says so: what a program's text says is forgotten.
void forget_marks(mlir::tensor::ExtractOp extract);

// While bodies are still those of linalg operations on tensors.
void hold_indices_inside(mlir::func::FuncOp kernel);

}  // namespace baton::compiler_lite::codegen
