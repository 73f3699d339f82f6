// library_commands: how the host program asks whether a library is there, and how its commands are called.
#pragma once

#include <string>

#include "compiler-lite/schedule/program.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// The global that says whether commands of `library` work on the device; the initializer fills it. A program without the
// module runs, too: its imports are optional.
std::string library_flag(Program& program, llvm::StringRef library, mlir::Location location, unsigned device);

// `library.command` as an import: command buffer, four words for each tensor, then as many numbers as are given.
std::string declare_library_command(mlir::ModuleOp module, llvm::StringRef library, llvm::StringRef command,
                                    size_t tensor_count);

}  // namespace baton::compiler_lite::schedule
