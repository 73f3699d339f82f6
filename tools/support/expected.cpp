#include "tools/support/expected.hpp"

#include <cmath>

#include "base/text.hpp"
#include "bytecode/signature.hpp"
#include "hal/element_value.hpp"
#include "modules/check_module/compare.hpp"
#include "tools/flags/inputs.hpp"
#include "tools/support/report.hpp"
#include "tools/support/tensors.hpp"

namespace baton::tools {
namespace {

using bytecode::SignatureCursor;
using vm::Value;
using vm::ValueType;

modules::Tolerance tolerance_of(hal::ElementType type, const Thresholds& thresholds) {
  switch (hal::is_float(type) ? hal::element_bytes(type) : 0) {
    case 2: return {thresholds.f16, thresholds.relative};
    case 4: return {thresholds.f32, thresholds.relative};
    case 8: return {thresholds.f64, thresholds.relative};
    default: return {};
  }
}

modules::TensorBytes bytes_in(const Tensor& tensor) {
  return {tensor.type.shape, tensor.type.element_type, tensor.bytes};
}

// What a text says that a result is; nothing for null.
Result<std::optional<Tensor>> parse_expected(std::string_view text, ValueType type, TensorValues& tensors) {
  if (text == "null" || text == "(null)") return std::optional<Tensor>();
  if (type == ValueType::kRef) {
    BATON_TRY_ASSIGN(Tensor tensor, tensors.files().load(text));
    return std::optional(std::move(tensor));
  }
  const std::string_view name = bytecode::value_type_name(type);
  if (text.size() > name.size() && text.starts_with(name) && text[name.size()] == '=') {
    text.remove_prefix(name.size() + 1);
  }
  BATON_TRY_ASSIGN(const Value value, flags::parse_scalar(text, type));
  return tensor_of_result(type, value, nullptr);
}

// Ok when the result is what is expected; FAILED_PRECONDITION tells the difference.
Status compare(ValueType type, Value result, std::string_view text, const Thresholds& thresholds,
               TensorValues& tensors) {
  BATON_TRY_ASSIGN(const std::optional<Tensor> expected, parse_expected(text, type, tensors));
  BATON_TRY_ASSIGN(const std::optional<Tensor> given, tensor_of_result(type, result, &tensors));
  if (given && expected) {
    return modules::expect_equal(bytes_in(*given), bytes_in(*expected),
                                 tolerance_of(given->type.element_type, thresholds));
  }
  if (!expected && type == ValueType::kRef && !result.ref) return {};
  return failure(StatusCode::kFailedPrecondition, "It is ", describe_value(type, result), "; expected is ", text, ".");
}

}  // namespace

Status check_expected(std::string_view function, std::string_view signature, std::span<const Value> results,
                      const std::vector<std::string>& given, const Thresholds& thresholds, TensorValues& tensors) {
  tensors.files().rewind();
  BATON_TRY_ASSIGN(const std::vector<std::string> expected, tensors.files().expand(given));
  if (expected.size() != results.size()) {
    return failure(StatusCode::kInvalidArgument, "function '", function, "' is ",
                   bytecode::describe_signature(signature), ": it has ", results.size(), " results, and ",
                   expected.size(), " --expected_output= were given");
  }
  size_t index = 0, differing = 0;
  for (SignatureCursor at(bytecode::results_of(signature)); at.next(); ++index) {
    const std::string& wanted = expected[index];
    if (wanted.empty() || wanted == "(ignored)") continue;
    Status same = compare(at.type(), results[index], wanted, thresholds, tensors);
    if (!same.ok() && same.code() != StatusCode::kFailedPrecondition) {
      return std::move(same).with_context(text("while comparing result ", index, " with --expected_output=", wanted));
    }
    if (same.ok()) continue;
    print(text(in_colour("[FAILED]", Colour::kRed), " result[", index, "]: ", same.message(), "\n"));
    ++differing;
  }
  if (differing == 0) {
    print(text(in_colour("[SUCCESS]", Colour::kGreen), " all function outputs matched their expected values.\n"));
    return {};
  }
  return failure(StatusCode::kFailedPrecondition, differing, " of ", results.size(), " results of '", function, "' ",
                 differing == 1 ? "differs" : "differ", " from what --expected_output= says");
}

}  // namespace baton::tools
