// ElementType: what a tensor's elements are: class and bits, as programs spell them ("f32", "i8").
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "hal/interface/numbers.hpp"

namespace baton::hal {

// The value is class << 8 | bits: programs and files may carry it as a number.
enum class ElementType : uint32_t {
  kNone = 0,
  kI1 = element_type_number(ElementClass::kInteger, 1),  // One byte each, 0 or 1.
  kI8 = element_type_number(ElementClass::kInteger, 8),
  kI16 = element_type_number(ElementClass::kInteger, 16),
  kI32 = element_type_number(ElementClass::kInteger, 32),
  kI64 = element_type_number(ElementClass::kInteger, 64),
  kS8 = element_type_number(ElementClass::kSigned, 8),
  kS16 = element_type_number(ElementClass::kSigned, 16),
  kS32 = element_type_number(ElementClass::kSigned, 32),
  kS64 = element_type_number(ElementClass::kSigned, 64),
  kU8 = element_type_number(ElementClass::kUnsigned, 8),
  kU16 = element_type_number(ElementClass::kUnsigned, 16),
  kU32 = element_type_number(ElementClass::kUnsigned, 32),
  kU64 = element_type_number(ElementClass::kUnsigned, 64),
  kF16 = element_type_number(ElementClass::kFloat, 16),
  kF32 = element_type_number(ElementClass::kFloat, 32),
  kF64 = element_type_number(ElementClass::kFloat, 64),
  kBF16 = element_type_number(ElementClass::kBrainFloat, 16),
  kC64 = element_type_number(ElementClass::kComplex, 64),  // Complex of two f32.
  kC128 = element_type_number(ElementClass::kComplex, 128),
};

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
