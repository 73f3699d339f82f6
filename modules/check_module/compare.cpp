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

std::string type_text(const TensorBytes& tensor) {
  std::string shape;
  for (const int64_t extent : tensor.shape) shape += text(extent, "x");
  return shape += element_type_name(tensor.element_type);
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

// What is wrong, element by element: the first one, how many, and for floats by how much at most.
struct Differences {
  uint64_t first = 0;
  uint64_t count = 0;
  double most = 0;
  void note(uint64_t index) {
    if (count++ == 0) first = index;
  }
  void note(uint64_t index, double distance) {
    note(index);
    if (distance > most) most = distance;  // Never when one is NaN.
  }
};

// "2 of 6 elements differ", and by how much when a number says it.
std::string count_text(const Differences& differences, uint64_t elements) {
  std::string result = text(differences.count, " of ", elements, " elements differ");
  if (!std::isfinite(differences.most) || differences.most == 0) return result;
  result += ", by up to ";
  append_element_text(result, ElementType::kF64, reinterpret_cast<const std::byte*>(&differences.most));
  return result;
}

std::string element_text(ElementType type, std::span<const std::byte> bytes, uint64_t index) {
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

Status expect_equal(const TensorBytes& given, const TensorBytes& expected, const Tolerance& tolerance) {
  const std::string given_type = type_text(given);
  if (given_type != type_text(expected)) {
    return failure(StatusCode::kFailedPrecondition, "A tensor is a ", given_type, "; expected is a ",
                   type_text(expected), ".");
  }
  if (given.bytes.empty() || std::memcmp(given.bytes.data(), expected.bytes.data(), given.bytes.size()) == 0) return {};
  const ElementType type = given.element_type;
  const uint32_t width = element_bytes(type);
  const uint64_t count = given.bytes.size() / width;
  Differences differences;
  for (uint64_t i = 0; i < count; ++i) {
    const std::byte *a = given.bytes.data() + i * width, *b = expected.bytes.data() + i * width;
    if (is_same(type, a, b, tolerance)) continue;
    is_float(type) ? differences.note(i, std::fabs(load_float(type, a) - load_float(type, b))) : differences.note(i);
  }
  if (differences.count == 0) return {};
  const bool is_exact = tolerance.atol == 0 && tolerance.rtol == 0;
  const std::string within = is_exact ? "" : text(" within ", tolerance.atol, " + ", tolerance.rtol, " of it");
  return failure(StatusCode::kFailedPrecondition, "Element ", index_text(given.shape, differences.first), " of a ",
                 given_type, " is ", element_text(type, given.bytes, differences.first), "; expected is ",
                 element_text(type, expected.bytes, differences.first), within, " (", count_text(differences, count),
                 ").");
}

Status expect_equal(hal::Device* device, const BufferView& given, const BufferView& expected,
                    const Tolerance& tolerance) {
  if (given.type_text() != expected.type_text()) {  // Before anything is read from a device.
    return expect_equal(TensorBytes{given.shape(), given.element_type(), {}},
                        TensorBytes{expected.shape(), expected.element_type(), {}}, tolerance);
  }
  BATON_TRY_ASSIGN(const std::vector<std::byte> a, bytes_of(device, given));
  BATON_TRY_ASSIGN(const std::vector<std::byte> b, bytes_of(device, expected));
  return expect_equal(TensorBytes{given.shape(), given.element_type(), a},
                      TensorBytes{expected.shape(), expected.element_type(), b}, tolerance);
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
