#include "modules/check_module/compare.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "hal/element_value.hpp"
#include "hal/host_copy.hpp"

namespace baton::modules {
namespace {

using hal::BufferView;
using hal::ElementType;

Result<std::vector<std::byte>> bytes_of(hal::Device* device, const BufferView& view) {
  std::vector<std::byte> bytes(static_cast<size_t>(view.length_bytes()));
  if (device) {
    BATON_TRY(copy_to_host(*device, view.buffer(), bytes));
    return bytes;
  }
  if (bytes.empty()) return bytes;
  BATON_TRY_ASSIGN(const hal::Mapping mapping, view.buffer()->map(hal::Access::kRead, 0, bytes.size()));
  std::memcpy(bytes.data(), mapping.bytes().data(), bytes.size());
  return bytes;
}

bool is_same(ElementType type, const std::byte* given, const std::byte* expected, const Tolerance& tolerance) {
  if (is_float(type)) return is_near(load_float(type, given), load_float(type, expected), tolerance);
  if (!is_integer(type)) return std::memcmp(given, expected, element_bytes(type)) == 0;
  const int64_t a = load_integer(type, given), b = load_integer(type, expected);
  if (a == b) return true;
  if (type == ElementType::kU64) {
    return is_near(static_cast<double>(static_cast<uint64_t>(a)), static_cast<double>(static_cast<uint64_t>(b)),
                   tolerance) &&
           (tolerance.atol > 0 || tolerance.rtol > 0);
  }
  return (tolerance.atol > 0 || tolerance.rtol > 0) &&
         is_near(static_cast<double>(a), static_cast<double>(b), tolerance);
}

bool is_zero(ElementType type, const std::byte* element) {
  if (is_float(type)) return load_float(type, element) == 0;
  const std::byte zero[16] = {};
  return std::memcmp(element, zero, element_bytes(type)) == 0;
}

// "[1, 2]" of the element with that number.
std::string index_text(std::span<const int64_t> shape, uint64_t number) {
  std::string text_of_index = "]";
  for (size_t i = shape.size(); i-- > 0;) {
    const auto extent = static_cast<uint64_t>(shape[i]);
    text_of_index.insert(0, text(i == 0 ? "" : ", ", number % extent));
    number /= extent;
  }
  return "[" + text_of_index;
}

// What is wrong, element by element: the first one and how many.
struct Differences {
  uint64_t first = 0;
  uint64_t count = 0;
  void note(uint64_t index) {
    if (count++ == 0) first = index;
  }
};

std::string element_text(ElementType type, const std::vector<std::byte>& bytes, uint64_t index) {
  std::string result;
  append_element_text(result, type, bytes.data() + index * element_bytes(type));
  return result;
}

}  // namespace

bool is_near(double given, double expected, const Tolerance& tolerance) {
  if (given == expected || (std::isnan(given) && std::isnan(expected))) return true;
  if (std::isinf(expected)) return false;  // A share of infinity is no tolerance.
  return std::fabs(given - expected) <= tolerance.atol + tolerance.rtol * std::fabs(expected);
}

Status expect_equal(hal::Device* device, const BufferView& given, const BufferView& expected,
                    const Tolerance& tolerance) {
  if (given.type_text() != expected.type_text()) {
    return failure(StatusCode::kFailedPrecondition, "A tensor is a ", given.type_text(), "; expected is a ",
                   expected.type_text(), ".");
  }
  BATON_TRY_ASSIGN(const std::vector<std::byte> a, bytes_of(device, given));
  BATON_TRY_ASSIGN(const std::vector<std::byte> b, bytes_of(device, expected));
  const ElementType type = given.element_type();
  const uint32_t width = element_bytes(type);
  Differences differences;
  for (uint64_t i = 0; i < given.element_count(); ++i) {
    if (!is_same(type, a.data() + i * width, b.data() + i * width, tolerance)) differences.note(i);
  }
  if (differences.count == 0) return {};
  const std::string within =
      tolerance.atol > 0 || tolerance.rtol > 0 ? text(" within ", tolerance.atol, " + ", tolerance.rtol, " of it") : "";
  return failure(StatusCode::kFailedPrecondition, "Element ", index_text(given.shape(), differences.first), " of a ",
                 given.type_text(), " is ", element_text(type, a, differences.first), "; expected is ",
                 element_text(type, b, differences.first), within, " (", differences.count, " of ",
                 given.element_count(), " elements differ).");
}

Status expect_all_true(hal::Device* device, const BufferView& given) {
  BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, bytes_of(device, given));
  const ElementType type = given.element_type();
  Differences zeros;
  for (uint64_t i = 0; i < given.element_count(); ++i) {
    if (is_zero(type, bytes.data() + i * element_bytes(type))) zeros.note(i);
  }
  if (zeros.count == 0) return {};
  return failure(StatusCode::kFailedPrecondition, "Element ", index_text(given.shape(), zeros.first), " of a ",
                 given.type_text(), " is 0; expected is none (", zeros.count, " of ", given.element_count(),
                 " elements are).");
}

}  // namespace baton::modules
