#include "hal/element_value.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/text.hpp"

namespace baton::hal {
namespace {

template <typename T>
T load(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

// A binary float of 16 bits: sign, exponent, mantissa.
struct Half {
  int exponent_bits;
  int mantissa_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int infinity() const { return ((1 << exponent_bits) - 1) << mantissa_bits; }
};
constexpr Half kF16 = {5, 10};
constexpr Half kBF16 = {8, 7};

double decode(const Half& format, uint16_t bits) {
  const int magnitude = bits & 0x7fff;
  const int mantissa = magnitude & ((1 << format.mantissa_bits) - 1);
  const int exponent = magnitude >> format.mantissa_bits;
  double value;
  if (magnitude >= format.infinity()) {
    value = mantissa ? NAN : INFINITY;
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - format.bias() - format.mantissa_bits);
  } else {
    value = std::ldexp(mantissa + (1 << format.mantissa_bits), exponent - format.bias() - format.mantissa_bits);
  }
  return std::copysign(value, bits & 0x8000 ? -1.0 : 1.0);
}

uint16_t encode(const Half& format, double value) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | format.infinity() | 1 << (format.mantissa_bits - 1));
  if (std::isinf(value)) return static_cast<uint16_t>(sign | format.infinity());
  if (magnitude == 0) return static_cast<uint16_t>(sign);
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  if (exponent > format.bias()) return static_cast<uint16_t>(sign | format.infinity());
  // The mantissa with its leading one, which a subnormal number lacks; rounding up may carry into the exponent, which
  // is right.
  const int rounded = static_cast<int>(std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent)));
  const int bits = ((exponent + format.bias() - 1) << format.mantissa_bits) + rounded;
  return static_cast<uint16_t>(sign | std::min(bits, format.infinity()));
}

void append_float_text(std::string& target, double value) {
  if (std::isnan(value)) {
    target += "NAN";
    return;
  }
  char digits[32];
  target.append(digits, static_cast<size_t>(std::snprintf(digits, sizeof(digits), "%G", value)));
}

}  // namespace

double load_float(ElementType type, const std::byte* element) {
  switch (type) {
    case ElementType::kF16: return decode(kF16, load<uint16_t>(element));
    case ElementType::kBF16: return decode(kBF16, load<uint16_t>(element));
    case ElementType::kF32: return static_cast<double>(load<float>(element));
    default: return load<double>(element);
  }
}

int64_t load_integer(ElementType type, const std::byte* element) {
  if (type == ElementType::kI1) return load<uint8_t>(element) != 0;
  const bool extends = element_class(type) != ElementClass::kUnsigned;
  switch (element_bytes(type)) {
    case 1: return extends ? int64_t{load<int8_t>(element)} : int64_t{load<uint8_t>(element)};
    case 2: return extends ? int64_t{load<int16_t>(element)} : int64_t{load<uint16_t>(element)};
    case 4: return extends ? int64_t{load<int32_t>(element)} : int64_t{load<uint32_t>(element)};
    default: return load<int64_t>(element);
  }
}

void store_float(ElementType type, double value, std::byte* element) {
  const auto store = [element](auto number) { std::memcpy(element, &number, sizeof(number)); };
  switch (type) {
    case ElementType::kF16: return store(encode(kF16, value));
    case ElementType::kBF16: return store(encode(kBF16, value));
    case ElementType::kF32: return store(static_cast<float>(value));
    default: return store(value);
  }
}

void store_integer(ElementType type, uint64_t bits, std::byte* element) {
  std::memcpy(element, &bits, element_bytes(type));
}

void append_element_text(std::string& target, ElementType type, const std::byte* element) {
  switch (element_class(type)) {
    case ElementClass::kFloat:
    case ElementClass::kBrainFloat: return append_float_text(target, load_float(type, element));
    case ElementClass::kComplex: {
      const ElementType part = type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
      const double imaginary = load_float(part, element + element_bytes(part));
      append_float_text(target, load_float(part, element));
      if (!std::signbit(imaginary) || std::isnan(imaginary)) target += '+';
      append_float_text(target, imaginary);
      target += 'j';
      return;
    }
    case ElementClass::kUnsigned: return append_text(target, static_cast<uint64_t>(load_integer(type, element)));
    default: return append_text(target, load_integer(type, element));
  }
}

}  // namespace baton::hal
