// build_executable: from entry points to the bytes of a CPU executable, in this process and without temporary files.
//
// The input is a module of func.funcs without arguments that speak to their dispatch through hal.interface.workgroup.*,
// hal.interface.constant.load and hal.interface.binding.subspan; every public one is an entry point. Bodies may be
// linalg on tensors or memrefs, tensor, vector, scf, arith, math and calls to declared functions.
//
// The output is a freestanding ELF file: a library of hal/drivers/local/executable_library.h behind its query function.
// It holds the code once for each level that is asked for (x86_64: baseline, avx2, avx512); the query function takes
// the best that the processor has.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler-lite/codegen/stage_times.hpp"
#include "compiler-lite/codegen/user_objects.hpp"
#include "compiler-lite/codegen/variant.hpp"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen::cpu {

enum class Architecture { kX86_64, kAarch64 };

// How much of the architecture the code may use. On aarch64 there is only the baseline.
enum class Level { kBaseline, kAvx2, kAvx512 };

struct TargetOptions {
  Architecture architecture = Architecture::kX86_64;
  // Empty: all levels of the architecture.
  std::vector<Level> levels = {};
  // Where paths of objects that are not absolute are looked for, after the working directory.
  std::vector<std::string> object_search_paths = {};
  std::string* explanation = nullptr;  // Of --explain.
  // Kernels check their accesses (check_kernels.hpp).
  bool sanitize = false;
  StageTimes* times = nullptr;
};

// Beyond success every function that the kernels call is linked or a dynamic import in the library's table.
mlir::FailureOr<Variant> build_executable(mlir::ModuleOp kernels, const TargetOptions& options,
                                          llvm::ArrayRef<Object> objects = {});

// The code as text, for people and tests: all levels of `options`, one after the other.
enum class EmitAs { kObject, kLlvmIr, kAssembly };
mlir::FailureOr<std::string> print_code(mlir::ModuleOp kernels, const TargetOptions& options,
                                        llvm::ArrayRef<Object> objects, EmitAs emit);

}  // namespace baton::compiler_lite::codegen::cpu
