// ElementType: what a tensor's elements are: class and bits, as programs spell them ("f32", "i8").
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace baton::hal {

// The value is class << 8 | bits: programs and files may carry it as a number.
enum class ElementType : uint32_t {
  kNone = 0,
  kI1 = 0x0101,  // One byte each, 0 or 1.
  kI8 = 0x0108,
  kI16 = 0x0110,
  kI32 = 0x0120,
  kI64 = 0x0140,
  kS8 = 0x0208,
  kS16 = 0x0210,
  kS32 = 0x0220,
  kS64 = 0x0240,
  kU8 = 0x0308,
  kU16 = 0x0310,
  kU32 = 0x0320,
  kU64 = 0x0340,
  kF16 = 0x0410,
  kF32 = 0x0420,
  kF64 = 0x0440,
  kBF16 = 0x0510,
  kC64 = 0x0640,  // Complex of two f32.
  kC128 = 0x0680,
};

enum class ElementClass : uint8_t { kNone, kInteger, kSigned, kUnsigned, kFloat, kBrainFloat, kComplex };

constexpr ElementClass element_class(ElementType type) {
  return static_cast<ElementClass>(static_cast<uint32_t>(type) >> 8);
}
constexpr uint32_t element_bytes(ElementType type) {
  const uint32_t bits = static_cast<uint32_t>(type) & 0xff;
  return (bits + 7) / 8;
}

// "f32"; "none" for numbers outside the set.
std::string_view element_type_name(ElementType type);
Result<ElementType> parse_element_type(std::string_view name);

}  // namespace baton::hal
