// The compiler's own steps between parsing and emission, in their order in pipeline.cpp. Each leaves a module that
// verifies, or has said why not.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::lower {

// Unknown operations are errors at their place, before anything is compiled: also in generic form. So is what later steps
// count on: tensors of elements that lie in no buffer, and constant dimensions that a tensor does not have.
mlir::LogicalResult refuse_unknown_operations(mlir::ModuleOp module);

// Constants whose bytes stand behind the program (dense_resource) → constants with elements; an error where the bytes are others.
mlir::LogicalResult read_resources(mlir::ModuleOp module);

// Operations of iree_linalg_ext → tm_tensor, linalg and tensor; an error at a form that they don't have.
mlir::LogicalResult linalg_ext_to_linalg(mlir::ModuleOp module);

// Before the first verification: linalg.map whose body takes what outs hold → without.
mlir::LogicalResult unify_maps(mlir::ModuleOp module);

// Globals of ml_program → util's; assertions inside of bodies, which no kernel has, → nothing; sizes of dimensions that only
// data name → a choice among all sizes; bufferization's words on tensors → tensors; math's later questions → comparisons.
mlir::LogicalResult unify_upstream_forms(mlir::ModuleOp module);

// ui and si integers → signless ones; the types that callers see stay as encodings of arguments and results.
mlir::LogicalResult signless_boundary(mlir::ModuleOp module);

// Collectives and channels of flow → calls of the module `collective`; an error at what it has no command for.
mlir::LogicalResult collectives_to_calls(mlir::ModuleOp module);

// func.func, func.call, func.return → util; what stands inside executables stays. Scalar util.unfoldable_constants
// become constants behind a barrier, and one element repeated over more than 2 GiB a fill.
mlir::LogicalResult functions_to_util(mlir::ModuleOp module);

// Operations of torch and tosa that no spec has replaced → linalg, arith and tensor; an error at one that has no form
// there.
mlir::LogicalResult frontends_to_linalg(mlir::ModuleOp module);

// Scans, scatters and sorts of torch-mlir → linalg, scf and tensor.
mlir::LogicalResult tm_tensor_to_linalg(mlir::ModuleOp module);

// Packing, softmax and flow's operations on whole tensors → linalg, arith and tensor.
mlir::LogicalResult decompose(mlir::ModuleOp module);

// Tensors of floats of 8 bits → tensors of bytes, and conversions in integers around what computes with them.
mlir::LogicalResult small_floats_to_bytes(mlir::ModuleOp module);

// Arithmetic and functions of complex numbers → the same of their real and imaginary parts. Elements of tensors stay complex.
mlir::LogicalResult complex_numbers_to_parts(mlir::ModuleOp module);

// Exports and imports with tensors take and give buffer views; with coarse fences they also take a wait and a signal
// fence. `fences_by_default` says which for functions that don't.
mlir::LogicalResult wrap_boundary(mlir::ModuleOp module, bool fences_by_default);

// Removes unused calls of imports that state nosideeffects.
void remove_unused_calls(mlir::ModuleOp module);

// Initializers with tensors → functions that initializers call, because functions are what is scheduled.
// Globals that hold a tensor of a file (#flow.parameter.named) get it by an initializer, which asks the module `parameters`.
mlir::LogicalResult load_named_parameters(mlir::ModuleOp module);

void outline_initializers(mlir::ModuleOp module);

// scf.if of functions → branches between blocks. Upstream's conversion, which takes loops, would move all that stands behind
// each of them, in order: checks of sizes that only callers know are thousands.
void host_branches(mlir::ModuleOp module);

// Elements of util.list and host bytes that are narrower than those hold → conversions around wider ones.
mlir::LogicalResult host_objects(mlir::ModuleOp module);

// Arithmetic on i1..i31, f16 and bf16 → the same on i32 and f32, with extensions and truncations around it.
mlir::LogicalResult widen_scalars(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::lower
