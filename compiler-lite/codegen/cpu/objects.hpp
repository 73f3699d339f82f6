// Objects of the user: found, read and looked into before anything is compiled, so that a wrong one is told early.
//
// Threads: functions of the arguments.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler-lite/codegen/cpu/executable.hpp"
#include "llvm/Support/MemoryBuffer.h"

namespace baton::compiler_lite::codegen::cpu {

// What was read, with the names of the functions and variables that it defines.
struct LoadedObject {
  std::string path;  // As it was found, for messages.
  mlir::Location location;
  bool is_bitcode;
  std::unique_ptr<llvm::MemoryBuffer> bytes;
  std::vector<std::string> defined;
};

// All objects, or failure after every message has been given.
mlir::FailureOr<std::vector<LoadedObject>> load_objects(llvm::ArrayRef<Object> objects, const TargetOptions& options);

}  // namespace baton::compiler_lite::codegen::cpu
