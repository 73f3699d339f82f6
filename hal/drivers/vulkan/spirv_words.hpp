// SpirvWords: the instructions of SPIR-V one by one, each inside its bytes. The numbers are those of the SPIR-V
// specification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace baton::hal::drivers::vulkan {

namespace spirv {

enum Op : uint32_t {
  kName = 5,
  kMemberName = 6,
  kEntryPoint = 15,
  kExecutionMode = 16,
  kCapability = 17,
  kTypeInt = 21,
  kTypeFloat = 22,
  kTypeVector = 23,
  kTypeMatrix = 24,
  kTypeArray = 28,
  kTypeRuntimeArray = 29,
  kTypeStruct = 30,
  kTypePointer = 32,
  kTypeForwardPointer = 39,
  kConstant = 43,
  kSpecConstantTrue = 48,
  kSpecConstantFalse = 49,
  kConstantComposite = 44,
  kSpecConstant = 50,
  kSpecConstantComposite = 51,
  kFunction = 54,
  kFunctionEnd = 56,
  kFunctionCall = 57,
  kVariable = 59,
  kLoad = 61,
  kStore = 62,
  kCopyMemory = 63,
  kAccessChain = 65,
  kInBoundsAccessChain = 66,
  kPtrAccessChain = 67,
  kArrayLength = 68,
  kInBoundsPtrAccessChain = 70,
  kDecorate = 71,
  kMemberDecorate = 72,
  kGroupDecorate = 74,
  kGroupMemberDecorate = 75,
  kCopyObject = 83,
  kAtomicLoad = 227,
  kAtomicStore = 228,
  kAtomicXor = 242,
  kExecutionModeId = 331,
  kDecorateId = 332,
  kDecorateString = 5632,
};

enum StorageClass : uint32_t {
  kUniformConstant = 0,
  kUniform = 2,
  kWorkgroup = 4,
  kPushConstant = 9,
  kStorageBuffer = 12,
  kPhysicalStorageBuffer = 5349,
};

enum Decoration : uint32_t {
  kSpecId = 1,
  kBufferBlock = 3,
  kArrayStride = 6,
  kMatrixStride = 7,
  kBuiltIn = 11,
  kBinding = 33,
  kDescriptorSet = 34,
  kOffset = 35,
};

inline constexpr uint32_t kMagic = 0x07230203;
inline constexpr uint32_t kGlCompute = 5;
inline constexpr uint32_t kModeLocalSize = 17;
inline constexpr uint32_t kModeLocalSizeId = 38;
inline constexpr uint32_t kBuiltInWorkgroupSize = 25;
inline constexpr uint32_t kCapabilityPhysicalAddresses = 5347;

}  // namespace spirv

// One instruction: its words, the opcode's included.
struct SpirvInstruction {
  uint32_t op = 0;
  uint32_t at = 0;  // The word where it stands.
  std::span<const uint32_t> words;

  uint32_t operator[](size_t word) const { return words[word]; }
  size_t size() const { return words.size(); }
};

inline Status bad_spirv(uint64_t word, std::string_view reason) {
  return failure(StatusCode::kInvalidArgument, "The SPIR-V is broken at word ", word, ": ", reason, ".");
}

// The string that begins at word `first`; how many words it takes goes to `length`.
inline Result<std::string> read_string(const SpirvInstruction& instruction, size_t first, size_t& length) {
  const auto* start = reinterpret_cast<const char*>(instruction.words.data()) + 4 * first;
  const size_t most = first < instruction.size() ? 4 * (instruction.size() - first) : 0;
  const size_t bytes = most == 0 ? 0 : strnlen(start, most);
  if (bytes == most) return bad_spirv(instruction.at, "a string has no end");
  length = bytes / 4 + 1;
  return std::string(start, bytes);
}

// Calls visit(instruction) → Status for each, up to the first failure.
template <typename Visit>
Status for_each_instruction(std::span<const uint32_t> words, Visit&& visit) {
  constexpr size_t kHeaderWords = 5;
  for (size_t at = kHeaderWords; at < words.size();) {
    const uint32_t length = words[at] >> 16;
    if (length == 0) return bad_spirv(at, "an instruction has no words");
    if (length > words.size() - at) return bad_spirv(at, "an instruction reaches beyond the end");
    BATON_TRY(visit(SpirvInstruction{words[at] & 0xffff, static_cast<uint32_t>(at), words.subspan(at, length)}));
    at += length;
  }
  return {};
}

}  // namespace baton::hal::drivers::vulkan
