// lower_entry_points: kernels become functions of three pointers, and what they ask their dispatch for becomes loads.
//
//   func.func @add() { %b = hal.interface.binding.subspan binding(0) ... }
//
// becomes a private function `add<suffix>.body(environment, dispatch, workgroup, binding 0, ...) -> i32`. Bindings are
// arguments so that LLVM may be told that they don't overlap (noalias holds for arguments only); the kernel that the
// library lists loads them and calls the body, which is then inlined (cpu/library.hpp).
//
// Expects control flow in blocks (no scf), because a failed import returns from the middle.
#pragma once

#include <string>
#include <vector>

#include "compiler-lite/codegen/imports.hpp"
#include "compiler-lite/codegen/variant.hpp"

namespace baton::compiler_lite::codegen::cpu {

struct EntryPoint : codegen::EntryPoint {
  std::string body = {};  // The symbol of the body; empty: the user's objects define the kernel whole.
};

// In the order of the module. Diagnostics for calls that can't be made.
mlir::FailureOr<std::vector<EntryPoint>> lower_entry_points(mlir::ModuleOp kernels, const ImportTable& imports);

}  // namespace baton::compiler_lite::codegen::cpu
