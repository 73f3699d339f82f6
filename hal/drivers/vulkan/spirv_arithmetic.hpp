// SpirvValue: an integer or bool constant of a SPIR-V module, or a vector of them; and what OpSpecConstantOp makes of some.
// Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace baton::hal::drivers::vulkan {

struct SpirvValue {
  static constexpr uint32_t kPartsMax = 4;

  uint32_t width = 32;  // Of each part, in bits; 1: a bool.
  uint32_t count = 1;
  uint64_t parts[kPartsMax] = {};  // Zeros above the width.
};

// `op` on whole values, part by part; a shuffle, an extraction and an insertion have numbers behind them. Nothing where the
// specification leaves open what comes out, or forbids the operation here.
std::optional<SpirvValue> spirv_evaluate(uint32_t op, uint32_t width, std::span<const SpirvValue> operands,
                                         std::span<const uint32_t> numbers);

// The lowest `width` bits.
uint64_t spirv_bits(uint64_t bits, uint32_t width);

}  // namespace baton::hal::drivers::vulkan
