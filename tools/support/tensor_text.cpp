#include "tools/support/tensor_text.hpp"

#include <charconv>
#include <cstring>
#include <optional>

#include "base/text.hpp"
#include "hal/element_value.hpp"
#include "tools/support/number_text.hpp"

namespace baton::tools {
namespace {

using hal::ElementType;

constexpr std::string_view kSeparators = " \t\r\n,[]";

Status bad_type(std::string_view text, const auto&... reason) {
  return failure(StatusCode::kInvalidArgument, "'", text, "' is not a tensor type as 2x3xf32; ", reason...);
}

// The size of one dimension, and what stands behind its 'x'; nothing when `text` begins with no number.
std::optional<int64_t> take_extent(std::string_view& text) {
  int64_t extent = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, extent);
  if (error != std::errc() || extent < 0 || stop == end || *stop != 'x') return std::nullopt;
  text.remove_prefix(static_cast<size_t>(stop - text.data()) + 1);
  return extent;
}

// Two's complement bits, of signed and unsigned numbers that fit the width; also "true" and "false" for an i1.
std::optional<uint64_t> parse_integer(std::string_view text, ElementType type) {
  if (type == ElementType::kI1) {
    if (text == "true" || text == "1") return 1;
    if (text == "false" || text == "0") return 0;
    return std::nullopt;
  }
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) text.remove_prefix(2);
  uint64_t magnitude = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, magnitude, is_hex ? 16 : 10);
  if (error != std::errc() || stop != end) return std::nullopt;
  const uint32_t width = hal::element_bytes(type) * 8;
  const uint64_t all_ones = ~uint64_t{0} >> (64 - width);
  const bool is_unsigned = hal::element_class(type) == hal::ElementClass::kUnsigned;
  const bool is_signed = hal::element_class(type) == hal::ElementClass::kSigned;
  const uint64_t limit = negative ? (is_unsigned ? 0 : all_ones / 2 + 1) : (is_signed ? all_ones / 2 : all_ones);
  if (magnitude > limit) return std::nullopt;
  return negative ? 0 - magnitude : magnitude;
}

// Beyond the largest number of the type is an error, not infinity.
bool store_float(std::string_view text, ElementType type, std::byte* target) {
  const std::optional<double> number = parse_float<double>(text);
  if (!number) return false;
  hal::store_float(type, *number, target);
  const auto is_infinite = [](double value) { return value - value != 0 && value == value; };
  return is_infinite(*number) || !is_infinite(hal::load_float(type, target));
}

// "1+2j", "-0.5-1e-3j", "2".
bool store_complex(std::string_view text, ElementType type, std::byte* target) {
  const ElementType part = type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
  std::byte* const imaginary = target + hal::element_bytes(part);
  if (!text.ends_with('j')) return store_float("0", part, imaginary) && store_float(text, part, target);
  text.remove_suffix(1);
  size_t sign = text.find_last_of("+-");
  if (sign != text.npos && sign > 0 && (text[sign - 1] == 'e' || text[sign - 1] == 'E')) {
    sign = text.substr(0, sign - 1).find_last_of("+-");
  }
  if (sign == text.npos || sign == 0) return false;
  return store_float(text.substr(0, sign), part, target) && store_float(text.substr(sign), part, imaginary);
}

bool store_value(std::string_view text, ElementType type, std::byte* target) {
  if (hal::element_class(type) == hal::ElementClass::kComplex) return store_complex(text, type, target);
  if (!hal::is_integer(type)) return store_float(text, type, target);
  const std::optional<uint64_t> bits = parse_integer(text, type);
  if (bits) hal::store_integer(type, *bits, target);
  return bits.has_value();
}

// The next value and what follows it; empty when there is none.
std::string_view take_value(std::string_view& values) {
  values.remove_prefix(std::min(values.find_first_not_of(kSeparators), values.size()));
  const std::string_view value = values.substr(0, values.find_first_of(kSeparators));
  values.remove_prefix(value.size());
  return value;
}

uint64_t count_values(std::string_view values) {
  uint64_t count = 0;
  while (!take_value(values).empty()) ++count;
  return count;
}

void splat(std::span<std::byte> bytes, size_t width) {
  for (size_t at = width; at < bytes.size(); at += width) std::memcpy(bytes.data() + at, bytes.data(), width);
}

// Writes the elements row by row until `left` is used up.
struct ElementPrinter {
  std::string& target;
  ElementType element_type;
  const std::byte* next;
  uint64_t left;

  // Without brackets around itself.
  void print(std::span<const int64_t> shape) {
    if (shape.empty()) return print_element();
    for (int64_t i = 0; i < shape[0]; ++i) {
      if (shape.size() == 1 && i > 0 && left > 0) target += ' ';
      if (left == 0) {
        target += "...";
        return;
      }
      if (shape.size() == 1) {
        print_element();
      } else {
        target += '[';
        print(shape.subspan(1));
        target += ']';
      }
    }
  }

  void print_element() {
    hal::append_element_text(target, element_type, next);
    next += hal::element_bytes(element_type);
    --left;
  }
};

}  // namespace

Tensor Tensor::of(TensorType type, std::vector<std::byte> bytes) {
  auto owned = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {std::move(type), *owned, owned};
}

uint64_t TensorType::element_count() const {
  uint64_t count = 1;
  for (int64_t extent : shape) count *= static_cast<uint64_t>(extent);
  return count;
}

Result<TensorType> parse_tensor_type(std::string_view text) {
  TensorType type;
  std::string_view rest = text;
  uint64_t bytes = 1;
  while (std::optional<int64_t> extent = take_extent(rest)) {
    type.shape.push_back(*extent);
    if (*extent != 0 && __builtin_mul_overflow(bytes, static_cast<uint64_t>(*extent), &bytes)) bytes = ~uint64_t{0};
  }
  Result<ElementType> element_type = hal::parse_element_type(rest);
  if (!element_type) return bad_type(text, element_type.error().message());
  type.element_type = *element_type;
  if (__builtin_mul_overflow(bytes, uint64_t{hal::element_bytes(*element_type)}, &bytes) || bytes > kTensorBytesMax) {
    return bad_type(text, "its size in bytes exceeds ", kTensorBytesMax);
  }
  return type;
}

std::string describe_tensor_type(std::span<const int64_t> shape, ElementType element_type) {
  std::string result;
  for (int64_t extent : shape) result += text(extent, "x");
  return result += hal::element_type_name(element_type);
}

Result<Tensor> parse_tensor(std::string_view text) {
  const size_t equals = text.find('=');
  BATON_TRY_ASSIGN(TensorType type, parse_tensor_type(text.substr(0, equals)));
  if (equals != std::string_view::npos) return parse_tensor_values(std::move(type), text.substr(equals + 1));
  std::vector<std::byte> zeros(type.length_bytes());
  return Tensor::of(std::move(type), std::move(zeros));
}

Result<Tensor> parse_tensor_values(TensorType type, std::string_view values) {
  const uint64_t given = count_values(values);
  const uint64_t wanted = type.element_count();
  const ElementType element_type = type.element_type;
  if (given != wanted && given != 1) {
    return failure(StatusCode::kInvalidArgument, "a tensor of ", describe_tensor_type(type.shape, element_type),
                   " takes ", wanted, " values, or one for all; ", given, " were given");
  }
  const size_t width = hal::element_bytes(element_type);
  std::vector<std::byte> bytes(wanted * width);
  std::byte unused[16];
  for (size_t i = 0; i < given; ++i) {
    const std::string_view value = take_value(values);
    if (store_value(value, element_type, i < wanted ? bytes.data() + i * width : unused)) continue;
    return failure(StatusCode::kInvalidArgument, "'", value, "' is not a value of type ",
                   hal::element_type_name(element_type));
  }
  if (given == 1) splat(bytes, width);
  return Tensor::of(std::move(type), std::move(bytes));
}

std::string describe_tensor(std::span<const int64_t> shape, ElementType element_type, std::span<const std::byte> bytes,
                            uint64_t most) {
  std::string result = describe_tensor_type(shape, element_type) + "=";
  if (bytes.empty()) return result;
  if (most == 0) return result += "...";
  ElementPrinter{result, element_type, bytes.data(), most}.print(shape);
  return result;
}

}  // namespace baton::tools
