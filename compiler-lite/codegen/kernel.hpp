// make_kernel: from a group of tensor operations to a kernel, and what its dispatches must pass.
//
// The flow: dispatch formation outlines a group as a func.func on tensors; make_kernel turns it into an entry point
// that computes one tile of the results per workgroup; cpu/executable.hpp turns entry points into bytes.
//
//   func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>, %scale: f32) -> tensor<?xf32> { ... }
//
// becomes an entry point with three bindings (a, b, result) and four constant words (scale, then the sizes of a, b and
// result), and a grid that is a function of the constants. The sizes that are written `?` are always passed, so a body
// may ask for them with tensor.dim; the dispatch knows them anyway.
//
// A group that says itself what a workgroup does (flow.dispatch.workgroup.id or .count in its body) isn't divided: its
// grid is the caller's, and of a result that is a tensor.insert_slice only the slice is written.
//
// Nor is one with the attribute kUndivided, which is the work of a single workgroup, or of as many as kWorkgroups says, each
// with a part of its own.
//
// Arguments are ranked tensors and scalars (integers of up to 64 bits, floats, index) in any order. A function
// attribute `tied_operands` (array of i64, one for each result: a number of an argument, or -1) makes a result
// overwrite that argument's binding. The function must be the only one that its results depend on: no calls to other
// func.funcs.
#pragma once

#include <cstdint>
#include <string>

#include "compiler-lite/codegen/tile_sizes.hpp"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class OpBuilder;
namespace func {
class FuncOp;
}
}  // namespace mlir

namespace baton::compiler_lite::codegen {

// A tensor that the kernel reads or writes. By ordinal: arguments in order, then the results that are not tied, in
// order.
struct KernelBinding {
  enum class Source { kArgument, kResult };
  Source source;
  unsigned index;  // Of the argument or the result.
  bool written;    // Results, and arguments that a result is tied to.
};

// A scalar that travels in the constants of the dispatch, in little-endian words of 32 bits: i64 and f64 take two, the
// low one first; f32 its bits; smaller ones are zero-extended. index takes one, and sizes are unsigned.
struct KernelConstant {
  enum class Source { kArgument, kArgumentSize, kResultSize };
  Source source;
  unsigned index;      // Of the argument or the result.
  unsigned dimension;  // Of the sizes.
  mlir::Type type;
  unsigned word;  // Where it begins.
  unsigned word_count;
};

struct Kernel {
  std::string name;  // Of the entry point.
  llvm::SmallVector<KernelBinding> bindings;
  // Scalar arguments, then sizes of arguments, then sizes of results: each in order.
  llvm::SmallVector<KernelConstant> constants;
  unsigned word_count = 0;
  // () [one symbol for each constant] -> (x, y, z). Only sizes occur in it; without `?` it is constant. Null when the
  // group says itself what a workgroup does.
  mlir::AffineMap grid;
  // How many floating-point operations a dispatch does, in words of its constants (work.hpp); empty: not known.
  std::string flops;
};

// An attribute of groups: one workgroup does it all, or as many as kWorkgroups says do, each a part.
inline constexpr llvm::StringLiteral kUndivided = "baton.undivided";

// An attribute of entry points, and of such groups: how many workgroups there are, where that is known.
inline constexpr llvm::StringLiteral kWorkgroups = "baton.workgroups";

// Inserts the entry point for `group` into `kernels` under the group's name; the group itself stays as it is.
// Diagnostics go to the location of what can't be compiled.
mlir::FailureOr<Kernel> make_kernel(mlir::func::FuncOp group, mlir::ModuleOp kernels, Tiling tiling = Tiling::kCores);

using ConstantValue = llvm::function_ref<mlir::Value(const KernelConstant&)>;

// The i32 words of a dispatch. `value_of` gives each constant as it is: index for sizes, the argument's type for
// arguments.
llvm::SmallVector<mlir::Value> pack_constants(mlir::OpBuilder& builder, mlir::Location location, const Kernel& kernel,
                                              ConstantValue value_of);

// The grid of a dispatch as three index values; constants where the sizes are.
llvm::SmallVector<mlir::Value> build_grid(mlir::OpBuilder& builder, mlir::Location location, const Kernel& kernel,
                                          ConstantValue value_of);

}  // namespace baton::compiler_lite::codegen
