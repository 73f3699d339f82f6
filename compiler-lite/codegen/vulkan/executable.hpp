// build_executable: from entry points to SPIR-V for Vulkan 1.2, which the driver compiles for the device.
//
// The way is that of cuda/executable.hpp as far as optimized LLVM IR, but without warps: threads meet in shared memory
// only, or hand each other what they hold in groups of eight (TargetOptions). Then loops and choices are found again (structure.hpp) and written as SPIR-V (function_writer.hpp). Kernels
// take their arguments by address: eight bytes of push constants lead to the record of the dispatch
// (hal/drivers/vulkan/README.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler-lite/codegen/user_objects.hpp"
#include "compiler-lite/codegen/variant.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen::vulkan {

inline constexpr llvm::StringLiteral kFormat = "vulkan-spirv-fb";

struct TargetOptions {
  std::vector<std::string> object_search_paths = {};
  std::string* explanation = nullptr;    // Of --explain.
  int64_t shared_bytes_max = 32 * 1024;  // Of a workgroup.
  bool sanitize = false;                 // Each access is checked.
  bool by_subgroups = false;             // See below.
};

mlir::FailureOr<Variant> build_executable(mlir::ModuleOp kernels, const TargetOptions& options,
                                          llvm::ArrayRef<Object> objects = {});

// Code in which threads of subgroups hand each other what they hold (spirv::kHandingFormat); nothing where they have no use
// for it.
mlir::FailureOr<std::optional<Variant>> build_by_subgroups(mlir::ModuleOp kernels, TargetOptions options,
                                                           llvm::ArrayRef<Object> objects = {});

// For people and tests: what SPIR-V is made of.
mlir::FailureOr<std::string> print_structured(mlir::ModuleOp kernels, const TargetOptions& options,
                                              llvm::ArrayRef<Object> objects = {});

}  // namespace baton::compiler_lite::codegen::vulkan
