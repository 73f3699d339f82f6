// build_user_library: kernels that the user wrote whole (static dispatches), as the bytes of a CPU executable.
//
// What the objects may be:
//   - one finished library, a shared object that exports baton_executable_library_query: taken as it is;
//   - .o, .a and .bc files that define that query function: linked, freestanding, as generated code is;
//   - .o, .a and .bc files that define the kernels, functions of the type baton_kernel called as the program calls
//     them: linked behind a table and a query function that are made here.
#pragma once

#include <vector>

#include "compiler-lite/codegen/cpu/entry_points.hpp"
#include "compiler-lite/codegen/cpu/executable.hpp"

namespace baton::compiler_lite::codegen::cpu {

// `kernels`: what the program calls; a body is not asked for. `specialization_count`: of constants that come when the
// code is loaded; a finished library knows its own.
mlir::FailureOr<Variant> build_user_library(llvm::StringRef name, mlir::Location location,
                                            const std::vector<EntryPoint>& kernels, unsigned specialization_count,
                                            const TargetOptions& options, llvm::ArrayRef<Object> objects);

}  // namespace baton::compiler_lite::codegen::cpu
