// The parts of an executable that are not kernels: the kernels' outer functions, the library's tables, the query
// function.
//
// All is written as LLVM IR by hand; the layout of the tables is that of hal/drivers/local/executable_library.h.
#pragma once

#include <string>
#include <vector>

#include "compiler-lite/codegen/cpu/entry_points.hpp"
#include "compiler-lite/codegen/cpu/levels.hpp"
#include "compiler-lite/codegen/llvm/access_checks.hpp"

namespace llvm {
class Module;
}

namespace baton::compiler_lite::codegen::cpu {

// Adds to a module with the bodies of `entries`: the functions that the runtime calls, and a hidden table
// `baton_library<suffix>` that lists them, and `checks` where the bodies have some. An entry without a body is a function of the user's objects as it is.
void add_library(llvm::Module& module, llvm::StringRef name, const TargetInfo& target,
                 const std::vector<EntryPoint>& entries, const ImportTable& imports, unsigned specialization_count = 0,
                 llvm::ArrayRef<AccessCheck> checks = {});

// Adds the query function: it returns the table of the last of `levels` whose processor bits are all there.
void add_query(llvm::Module& module, const std::vector<TargetInfo>& levels, bool checked = false);

}  // namespace baton::compiler_lite::codegen::cpu
