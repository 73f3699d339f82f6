#include "tools/support/results.hpp"

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

Result<std::string> describe_results(std::string_view signature, std::span<const Value> results,
                                     const TensorValues* tensors) {
  std::string lines;
  size_t index = 0;
  for (SignatureCursor at(bytecode::results_of(signature)); at.next(); ++index) {
    std::string value;
    if (tensors && at.type() == ValueType::kRef) {
      BATON_TRY_ASSIGN(value, tensors->describe(results[index].ref));
    }
    if (value.empty()) value = describe_value(at.type(), results[index]);
    lines += text("result[", index, "]: ", value, "\n");
  }
  return lines;
}

void release_results(std::string_view signature, std::span<const Value> results) {
  size_t index = 0;
  for (SignatureCursor at(bytecode::results_of(signature)); at.next(); ++index) {
    if (at.type() == ValueType::kRef) vm::release_object(results[index].ref);
  }
}

}  // namespace baton::tools
