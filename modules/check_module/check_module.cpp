#include "modules/check_module/check_module.hpp"

#include "modules/check_module/compare.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/native_module.hpp"
#include "modules/sdk/module.hpp"

namespace baton::modules {
namespace {

Status expect_true(int32_t value) {
  if (value != 0) return {};
  return failure(StatusCode::kFailedPrecondition, "A condition is 0; expected is true.");
}

Status expect_false(int32_t value) {
  if (value == 0) return {};
  return failure(StatusCode::kFailedPrecondition, "A condition is ", value, "; expected is false.");
}

template <typename T>
bool same(T given, T expected) {
  return given == expected || (given != given && expected != expected);  // NaN is NaN.
}

template <typename T>
auto printable(T number) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(number);
  } else {
    return number;
  }
}

template <typename T>
Status expect_eq(T given, T expected) {
  if (same(given, expected)) return {};
  return failure(StatusCode::kFailedPrecondition, "A number is ", printable(given), "; expected is ",
                 printable(expected), ".");
}

template <typename T>
Status expect_ne(T given, T other) {
  if (!same(given, other)) return {};
  return failure(StatusCode::kFailedPrecondition, "A number is ", printable(given), "; expected is any other.");
}

// A tolerance that is NaN would take everything.
Status check_tolerances(float atol, float rtol) {
  if (atol >= 0 && rtol >= 0) return {};
  return failure(StatusCode::kInvalidArgument, "Tolerances are numbers from 0 on, not ", static_cast<double>(atol),
                 " and ", static_cast<double>(rtol), ".");
}

template <typename T>
Status expect_almost_eq(T given, T expected, float atol, float rtol) {
  BATON_TRY(check_tolerances(atol, rtol));
  const double a = static_cast<double>(given), b = static_cast<double>(expected);
  const Tolerance tolerance = {static_cast<double>(atol), static_cast<double>(rtol)};
  if (is_near(a, b, tolerance)) return {};
  return failure(StatusCode::kFailedPrecondition, "A number is ", a, "; expected is ", b, " within ", tolerance.atol,
                 " + ", tolerance.rtol, " of it.");
}

Status expect_tensor_eq(hal::Device* device, const hal::BufferView& given, const hal::BufferView& expected) {
  return expect_equal(device, given, expected);
}

Status expect_tensor_almost_eq(hal::Device* device, const hal::BufferView& given, const hal::BufferView& expected,
                               float atol, float rtol) {
  BATON_TRY(check_tolerances(atol, rtol));
  return expect_equal(device, given, expected, {static_cast<double>(atol), static_cast<double>(rtol)});
}

Status expect_shape(const hal::BufferView& given, sdk::Variadic<int64_t> extents) {
  const auto shape = given.shape();
  bool equal = shape.size() == extents.size();
  for (size_t i = 0; equal && i < shape.size(); ++i) equal = extents[i] < 0 || shape[i] == extents[i];
  if (equal) return {};
  std::string wanted;
  for (int64_t extent : extents) wanted += extent < 0 ? std::string("?x") : text(extent, "x");
  return failure(StatusCode::kFailedPrecondition, "A tensor is a ", given.type_text(), "; expected is shape ",
                 wanted.empty() ? "of rank 0" : wanted.substr(0, wanted.size() - 1), ".");
}

Status expect_tensor_all_true(hal::Device* device, const hal::BufferView& given) {
  return expect_all_true(device, given);
}

class Check final : public sdk::Module<Check> {};

}  // namespace

BATON_MODULE_QUERY(
    baton_check_module_query, Check, "check", BATON_FUNCTION("expect_true", &expect_true),
    BATON_FUNCTION("expect_false", &expect_false), BATON_FUNCTION("expect_all_true", &expect_tensor_all_true),
    BATON_FUNCTION("expect_eq", &expect_tensor_eq), BATON_FUNCTION("expect_almost_eq", &expect_tensor_almost_eq),
    BATON_FUNCTION("expect_shape", &expect_shape), BATON_FUNCTION("expect_eq.i32", &expect_eq<int32_t>),
    BATON_FUNCTION("expect_eq.i64", &expect_eq<int64_t>), BATON_FUNCTION("expect_eq.f32", &expect_eq<float>),
    BATON_FUNCTION("expect_eq.f64", &expect_eq<double>), BATON_FUNCTION("expect_ne.i32", &expect_ne<int32_t>),
    BATON_FUNCTION("expect_ne.i64", &expect_ne<int64_t>), BATON_FUNCTION("expect_ne.f32", &expect_ne<float>),
    BATON_FUNCTION("expect_ne.f64", &expect_ne<double>),
    BATON_FUNCTION("expect_almost_eq.f32", &expect_almost_eq<float>),
    BATON_FUNCTION("expect_almost_eq.f64", &expect_almost_eq<double>));

Result<Ref<const vm::Module>> make_check_module() {
  return NativeModule::make(baton_check_module_query, {}, "built-in module 'check'");
}

}  // namespace baton::modules
