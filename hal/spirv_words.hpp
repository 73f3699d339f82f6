// SpirvWords: the instructions of SPIR-V one by one, each inside its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "hal/interface/spirv.hpp"

namespace baton::hal {

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
  for (size_t at = spirv::kHeaderWords; at < words.size();) {
    const uint32_t length = words[at] >> 16;
    if (length == 0) return bad_spirv(at, "an instruction has no words");
    if (length > words.size() - at) return bad_spirv(at, "an instruction reaches beyond the end");
    BATON_TRY(visit(SpirvInstruction{words[at] & 0xffff, static_cast<uint32_t>(at), words.subspan(at, length)}));
    at += length;
  }
  return {};
}

}  // namespace baton::hal
