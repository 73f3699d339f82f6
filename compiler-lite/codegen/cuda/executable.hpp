// build_executable: from entry points to PTX, which the driver compiles for the device when it is loaded.
//
// The input is what cpu/executable.hpp takes: a module of func.funcs that speak to their dispatch through
// hal.interface.*. A workgroup is a block of threads: `workgroup_size` of a kernel says how many, or they are chosen
// here (threads.hpp). Functions that kernels call come from bitcode, which is linked and inlined by LLVM, or from
// PTX, which is linked as text (link_ptx.hpp);
// what else the toolkit makes (cubins, objects, archives, fatbins, LTO-IR) is linked to machine code by nvJitLink.
#pragma once

#include <string>
#include <vector>

#include "compiler-lite/codegen/user_objects.hpp"
#include "compiler-lite/codegen/variant.hpp"
#include "compiler-lite/device_linker.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen::cuda {

struct TargetOptions {
  std::string arch = {};  // "sm_80"; empty: kDefaultArch.
  // Where paths of objects that are not absolute are looked for, after the working directory.
  std::vector<std::string> object_search_paths = {};
  // The path of libdevice.10.bc of a CUDA toolkit, whose math functions are taken then; empty: ours.
  std::string libdevice = {};
  // Of a block, where less than the architecture's is wanted; 0: the architecture's.
  int64_t shared_bytes_max = 0;
  std::string* explanation = nullptr;  // Of --explain.
  bool sanitize = false;               // Each access is checked; products by instructions of their own are left out.
  DeviceLinker linker = nullptr;       // For objects that are neither bitcode nor PTX.
};

mlir::FailureOr<Variant> build_executable(mlir::ModuleOp kernels, const TargetOptions& options,
                                          llvm::ArrayRef<Object> objects = {});

// Whether PTX for a newer architecture than kDefaultArch would be faster by a multiple: products on tensor cores.
bool wants_newer_code(mlir::ModuleOp kernels);
inline constexpr llvm::StringLiteral kNewerArchs[] = {"sm_90a", "sm_80"};  // The best first.

// For people and tests: what PTX is made of.
mlir::FailureOr<std::string> print_llvm(mlir::ModuleOp kernels, const TargetOptions& options,
                                        llvm::ArrayRef<Object> objects = {});

}  // namespace baton::compiler_lite::codegen::cuda
