// link_executable: the last step of every CPU executable, generated or the user's: code that was compiled here, objects
// that were given, and what LLVM calls on its own become one freestanding library; symbols that nobody defines are all
// named.
#pragma once

#include <vector>

#include "compiler-lite/codegen/cpu/executable.hpp"
#include "compiler-lite/codegen/cpu/link.hpp"
#include "compiler-lite/codegen/llvm/link_bitcode.hpp"
#include "compiler-lite/codegen/user_objects.hpp"

namespace baton::compiler_lite::codegen::cpu {

// Whose code it is, for messages and for the format.
struct ExecutableName {
  llvm::StringRef name;
  mlir::Location location;
  Architecture architecture;
};

// Bitcode among `objects` is skipped: the function that compiles `code` links it.
mlir::FailureOr<Variant> link_executable(const ExecutableName& executable, std::vector<LinkInput> code,
                                         llvm::ArrayRef<LoadedObject> objects);

// What a finished library has that the runtime's loader refuses; empty when there is nothing.
llvm::StringRef why_not_loaded(llvm::StringRef elf);

// The bitcode among `objects`.
std::vector<Bitcode> bitcode_of(llvm::ArrayRef<LoadedObject> objects);

}  // namespace baton::compiler_lite::codegen::cpu
