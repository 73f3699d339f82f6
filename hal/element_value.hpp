// Single elements of tensors as numbers and as text: for hosts that read, print and compare them; kernels
// don't use this. Bytes are little-endian, as devices have them.
#pragma once

#include <cstddef>
#include <string>

#include "hal/element_type.hpp"

namespace baton::hal {

constexpr bool is_float(ElementType type) {
  return element_class(type) == ElementClass::kFloat || element_class(type) == ElementClass::kBrainFloat;
}
constexpr bool is_integer(ElementType type) {
  const ElementClass its = element_class(type);
  return its == ElementClass::kInteger || its == ElementClass::kSigned || its == ElementClass::kUnsigned;
}

// An element of a float type, exactly.
double load_float(ElementType type, const std::byte* element);
// An element of an integer type, extended by its sign; of an unsigned one as the same bits. An i1 is 0 or 1.
int64_t load_integer(ElementType type, const std::byte* element);

// Rounds to nearest, ties to even; beyond the largest number infinity.
void store_float(ElementType type, double value, std::byte* element);
// The low bits.
void store_integer(ElementType type, uint64_t bits, std::byte* element);

// Integers in decimal, floats with six significant digits ("0.333333", "NAN", "-INF"), complex numbers as "1+2j".
void append_element_text(std::string& target, ElementType type, const std::byte* element);

}  // namespace baton::hal
