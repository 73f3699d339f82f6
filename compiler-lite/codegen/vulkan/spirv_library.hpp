// Functions of the user for kernels of Vulkan: modules of SPIR-V with linkage, and sources of GLSL.
//
// A function takes and gives single values: bool, integers and floats of 32 and 64 bits; a pointer of the kernel is its
// address, an integer of 64 bits. It has no variables outside of itself and no barriers.
#pragma once

#include <string>
#include <vector>

#include "compiler-lite/codegen/user_objects.hpp"
#include "mlir/IR/Types.h"

namespace baton::compiler_lite::codegen::vulkan {

struct LibraryValue {
  enum class Kind { kNone, kBool, kInteger, kFloat };
  Kind kind = Kind::kNone;
  unsigned width = 0;
  bool is_signed = false;
  bool by_pointer = false;  // Through a variable of the caller's: GLSL passes what a function may change this way.

  // Whether a kernel's value of this type can be handed on so.
  bool takes(mlir::Type type) const;
  std::string text() const;  // "int32"
};

struct LibraryFunction {
  std::string name;
  LibraryValue result;
  std::vector<LibraryValue> parameters;
  std::string problem = {};  // Why it can't be called; empty: it can.

  std::string text() const;  // "scale(float32, uint64) -> float32"
};

struct SpirvLibrary {
  std::string path;
  std::vector<uint32_t> words;  // With linkage, without entry points, in the version that kernels have.
  std::vector<LibraryFunction> functions;
  bool orders_memory = false;  // It wants Vulkan's memory model.
};

// Whether the ending of the path says SPIR-V or GLSL.
bool is_library(llvm::StringRef path);

// On failure a message was given.
mlir::FailureOr<SpirvLibrary> read_library(const LoadedObject& object);

// The library with the memory model that all of the executable has.
std::vector<uint32_t> with_memory_model(const SpirvLibrary& library, bool orders_memory);

}  // namespace baton::compiler_lite::codegen::vulkan
