#include "tools/support/results.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.hpp"
#include "bytecode/signature.hpp"
#include "tools/support/tensors.hpp"
#include "vm/blob.hpp"
#include "vm/list.hpp"
#include "vm/object.hpp"

namespace baton::tools {
namespace {

using bytecode::SignatureCursor;
using vm::Value;
using vm::ValueType;

// Six significant digits; NaN without its sign.
std::string describe_float(double number) {
  if (std::isnan(number)) return "NAN";
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%G", number);
  return digits;
}

std::string describe_object(vm::Object* object) {
  if (!object) return "null";
  if (const vm::Blob* blob = vm::as_blob(object)) return text("blob (", blob->size, " bytes)");
  if (const vm::List* list = vm::as_list(object)) return text("list (", list->size(), " elements)");
  return object->type->name;
}

std::optional<Tensor> scalar_tensor(hal::ElementType type, Value value) {
  const auto bytes = std::as_bytes(std::span(&value.bits, 1)).first(hal::element_bytes(type));
  return Tensor::of({{}, type}, {bytes.begin(), bytes.end()});
}

// Lists that hold themselves end somewhere.
constexpr int kListDepthMax = 8;

Result<std::string> describe_deeply(ValueType type, Value value, const TensorValues* tensors, int depth);

Result<std::string> describe_list(const vm::List& list, const TensorValues* tensors, int depth) {
  std::string lines = text("list (", list.size(), " elements)");
  const uint64_t shown = depth > 0 ? std::min(list.size(), kPrintedElements) : 0;
  for (uint64_t i = 0; i < shown; ++i) {
    BATON_TRY_ASSIGN(const std::string element,
                     describe_deeply(list.elements[i].type, list.elements[i].value, tensors, depth - 1));
    lines += text("\n", std::string(static_cast<size_t>(kListDepthMax - depth + 1) * 2, ' '), "[", i, "]: ", element);
  }
  return shown < list.size() ? lines + "\n..." : lines;
}

// With the values of tensors and the elements of lists, on lines of their own.
Result<std::string> describe_deeply(ValueType type, Value value, const TensorValues* tensors, int depth) {
  if (type != ValueType::kRef) return describe_value(type, value);
  if (const vm::List* list = vm::as_list(value.ref)) return describe_list(*list, tensors, depth);
  if (tensors) {
    BATON_TRY_ASSIGN(std::string tensor, tensors->describe(value.ref));
    if (!tensor.empty()) return tensor;
  }
  return describe_value(type, value);
}

}  // namespace

std::string describe_value(ValueType type, Value value) {
  switch (type) {
    case ValueType::kI32: return text("i32=", value.as<int32_t>());
    case ValueType::kI64: return text("i64=", value.as<int64_t>());
    case ValueType::kF32: return text("f32=", describe_float(static_cast<double>(value.as<float>())));
    case ValueType::kF64: return text("f64=", describe_float(value.as<double>()));
    case ValueType::kRef: return describe_object(value.ref);
  }
  return "";
}

Result<std::string> describe_result(size_t index, ValueType type, Value value, const TensorValues* tensors) {
  BATON_TRY_ASSIGN(const std::string described, describe_deeply(type, value, tensors, kListDepthMax));
  return text("result[", index, "]: ", described, "\n");
}

Result<std::optional<Tensor>> tensor_of_result(ValueType type, Value value, const TensorValues* tensors) {
  switch (type) {
    case ValueType::kI32: return scalar_tensor(hal::ElementType::kI32, value);
    case ValueType::kI64: return scalar_tensor(hal::ElementType::kI64, value);
    case ValueType::kF32: return scalar_tensor(hal::ElementType::kF32, value);
    case ValueType::kF64: return scalar_tensor(hal::ElementType::kF64, value);
    case ValueType::kRef: break;
  }
  if (const vm::Blob* blob = vm::as_blob(value.ref)) {
    const std::span<const std::byte> bytes = blob->bytes();
    return std::optional(Tensor{{{static_cast<int64_t>(bytes.size())}, hal::ElementType::kU8}, bytes, nullptr});
  }
  if (!tensors) return std::optional<Tensor>();
  return tensors->read(value.ref);
}

void release_results(std::string_view signature, std::span<const Value> results) {
  size_t index = 0;
  for (SignatureCursor at(bytecode::results_of(signature)); at.next(); ++index) {
    if (at.type() == ValueType::kRef) vm::release_object(results[index].ref);
  }
}

}  // namespace baton::tools
