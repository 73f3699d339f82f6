#include "hal/drivers/vulkan/spirv_arithmetic.hpp"

#include <algorithm>

#include "hal/interface/spirv.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

using namespace spirv;
using Bits = std::optional<uint64_t>;

int64_t as_signed(uint64_t bits, uint32_t width) {
  const uint32_t above = 64 - width;
  return static_cast<int64_t>(bits << above) >> above;
}

// Truncated, as the machine does it; the one quotient that doesn't fit wraps around.
Bits divide(int64_t a, int64_t b, bool remainder) {
  if (b == 0) return std::nullopt;
  if (b == -1) return remainder ? 0 : uint64_t{0} - static_cast<uint64_t>(a);
  return static_cast<uint64_t>(remainder ? a % b : a / b);
}

Bits unary(uint32_t op, uint64_t a, uint32_t width) {
  switch (op) {
    case kUConvert: return a;
    case kSConvert: return static_cast<uint64_t>(as_signed(a, width));
    case kSNegate: return uint64_t{0} - a;
    case kNot: return ~a;
    case kLogicalNot: return a == 0;
    default: return std::nullopt;
  }
}

Bits compare(uint32_t op, uint64_t a, uint64_t b, uint32_t width) {
  const int64_t x = as_signed(a, width), y = as_signed(b, width);
  switch (op) {
    case kLogicalEqual:
    case kIEqual: return a == b;
    case kLogicalNotEqual:
    case kINotEqual: return a != b;
    case kUGreaterThan: return a > b;
    case kSGreaterThan: return x > y;
    case kUGreaterThanEqual: return a >= b;
    case kSGreaterThanEqual: return x >= y;
    case kULessThan: return a < b;
    case kSLessThan: return x < y;
    case kULessThanEqual: return a <= b;
    case kSLessThanEqual: return x <= y;
    default: return std::nullopt;
  }
}

Bits shift(uint32_t op, uint64_t a, uint64_t by, uint32_t width) {
  if (by >= width) return std::nullopt;
  if (op == kShiftLeftLogical) return a << by;
  return op == kShiftRightLogical ? a >> by : static_cast<uint64_t>(as_signed(a, width) >> by);
}

Bits binary(uint32_t op, uint64_t a, uint64_t b, uint32_t width) {
  const int64_t x = as_signed(a, width), y = as_signed(b, width);
  switch (op) {
    case kIAdd: return a + b;
    case kISub: return a - b;
    case kIMul: return a * b;
    case kUDiv: return b == 0 ? Bits() : a / b;
    case kUMod: return b == 0 ? Bits() : a % b;
    case kSDiv: return divide(x, y, false);
    case kSRem: return divide(x, y, true);
    case kSMod: {
      const Bits rest = divide(x, y, true);
      const bool turns = rest && *rest != 0 && (static_cast<int64_t>(*rest) < 0) != (y < 0);
      return turns ? *rest + b : rest;
    }
    case kShiftLeftLogical:
    case kShiftRightLogical:
    case kShiftRightArithmetic: return shift(op, a, b, width);
    case kLogicalOr:
    case kBitwiseOr: return a | b;
    case kBitwiseXor: return a ^ b;
    case kLogicalAnd:
    case kBitwiseAnd: return a & b;
    default: return compare(op, a, b, width);
  }
}

// Those that take parts from here and there.
std::optional<SpirvValue> rearrange(uint32_t op, uint32_t width, std::span<const SpirvValue> operands,
                                    std::span<const uint32_t> numbers) {
  SpirvValue made{.width = width};
  if (op == kCompositeExtract && operands.size() == 1 && numbers.size() == 1 && numbers[0] < operands[0].count) {
    made.parts[0] = operands[0].parts[numbers[0]];
    return made;
  }
  if (operands.size() != 2) return std::nullopt;
  if (op == kCompositeInsert && numbers.size() == 1 && numbers[0] < operands[1].count) {
    made = operands[1];
    made.parts[numbers[0]] = operands[0].parts[0];
    return made;
  }
  if (op != kVectorShuffle || numbers.empty() || numbers.size() > SpirvValue::kPartsMax) return std::nullopt;
  made.count = static_cast<uint32_t>(numbers.size());
  for (uint32_t i = 0; i < made.count; ++i) {
    const uint32_t first = operands[0].count, at = numbers[i];
    if (at >= first + operands[1].count) return std::nullopt;
    made.parts[i] = at < first ? operands[0].parts[at] : operands[1].parts[at - first];
  }
  return made;
}

}  // namespace

uint64_t spirv_bits(uint64_t bits, uint32_t width) { return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1); }

std::optional<SpirvValue> spirv_evaluate(uint32_t op, uint32_t width, std::span<const SpirvValue> operands,
                                         std::span<const uint32_t> numbers) {
  const auto is_odd = [](const SpirvValue& one) { return one.width == 0 || one.width > 64; };
  if (operands.empty() || width == 0 || width > 64) return std::nullopt;
  if (std::any_of(operands.begin(), operands.end(), is_odd)) return std::nullopt;
  if (op == kVectorShuffle || op == kCompositeExtract || op == kCompositeInsert) {
    return rearrange(op, width, operands, numbers);
  }
  SpirvValue made{.width = width, .count = operands.back().count};
  for (uint32_t i = 0; i < made.count; ++i) {
    Bits bits;
    if (op == kSelect && operands.size() == 3) {
      const SpirvValue& condition = operands[0];
      bits = operands[condition.parts[condition.count == 1 ? 0 : i] != 0 ? 1 : 2].parts[i];
    } else if (operands.size() == 1) {
      bits = unary(op, operands[0].parts[i], operands[0].width);
    } else if (operands.size() == 2) {
      bits = binary(op, operands[0].parts[i], operands[1].parts[i], operands[0].width);
    }
    if (!bits) return std::nullopt;
    made.parts[i] = spirv_bits(*bits, width);
  }
  return made;
}

}  // namespace baton::hal::drivers::vulkan
