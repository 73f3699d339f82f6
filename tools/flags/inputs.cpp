#include "tools/flags/inputs.hpp"

#include <charconv>
#include <limits>

#include "bytecode/signature.hpp"
#include "tools/support/number_text.hpp"
#include "tools/support/tensors.hpp"
#include "vm/list.hpp"
#include "vm/object.hpp"

namespace baton::tools::flags {
namespace {

using bytecode::Signature;
using bytecode::SignatureType;
using vm::Value;
using vm::ValueType;

std::string type_name(const SignatureType& type) {
  if (type.type == ValueType::kRef && !type.ref_type.empty()) return std::string(type.ref_type);
  return std::string(bytecode::value_type_name(type.type));
}

// The whole text as an unsigned magnitude behind an optional sign.
struct Integer {
  bool negative = false;
  uint64_t magnitude = 0;
};
std::optional<Integer> parse_integer(std::string_view text) {
  Integer integer;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    integer.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) text.remove_prefix(2);
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, integer.magnitude, is_hex ? 16 : 10);
  if (error != std::errc() || stop != end) return std::nullopt;
  return integer;
}

// Two's complement bits of an integer of `width` bits, signed or unsigned; nothing when it does not fit.
std::optional<uint64_t> bits_of(Integer integer, int width) {
  const uint64_t largest = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const uint64_t limit = integer.negative ? largest / 2 + 1 : largest;
  if (integer.magnitude > limit) return std::nullopt;
  return (integer.negative ? 0 - integer.magnitude : integer.magnitude) & largest;
}

std::optional<Value> parse_value(std::string_view text, ValueType type) {
  switch (type) {
    case ValueType::kI32:
    case ValueType::kI64: {
      const std::optional<Integer> integer = parse_integer(text);
      const std::optional<uint64_t> bits =
          integer ? bits_of(*integer, type == ValueType::kI32 ? 32 : 64) : std::nullopt;
      return bits ? std::optional(Value::from_bits(*bits)) : std::nullopt;
    }
    case ValueType::kF32: {
      const std::optional<float> number = parse_float<float>(text);
      return number ? std::optional(Value::of(*number)) : std::nullopt;
    }
    case ValueType::kF64: {
      const std::optional<double> number = parse_float<double>(text);
      return number ? std::optional(Value::of(*number)) : std::nullopt;
    }
    case ValueType::kRef: return text == "null" ? std::optional(Value()) : std::nullopt;
  }
  return std::nullopt;
}

// "i32=5" for an i32 parameter gives "5"; "5" stays.
Result<std::string_view> without_type(std::string_view input, const SignatureType& expected) {
  const size_t equals = input.find('=');
  if (equals == std::string_view::npos) return input;
  const std::string_view stated = input.substr(0, equals);
  if (stated != type_name(expected)) {
    return failure(StatusCode::kInvalidArgument, "its type is ", type_name(expected), ", not ", stated);
  }
  return input.substr(equals + 1);
}

bool is_null(std::string_view text) { return text == "null" || text == "(null)"; }

// Takes the text up to the next `;` that is outside of braces, and the mark.
std::string_view take_element(std::string_view& elements) {
  size_t depth = 0, end = 0;
  for (; end < elements.size() && (depth > 0 || elements[end] != ';'); ++end) {
    if (elements[end] == '{') ++depth;
    if (elements[end] == '}' && depth > 0) --depth;
  }
  const std::string_view element = elements.substr(0, end);
  elements.remove_prefix(std::min(end + 1, elements.size()));
  return element;
}

Result<vm::Object*> parse_list(std::string_view text, TensorValues& values);

// An element of a list states what it is, as no signature does: "i32=5", "null", a list, else a tensor.
Result<vm::List::Element> parse_element(std::string_view text, TensorValues& values) {
  if (is_null(text)) return vm::List::Element{ValueType::kRef, Value()};
  if (text.starts_with('!')) {
    BATON_TRY_ASSIGN(vm::Object * list, parse_list(text, values));
    return vm::List::Element{ValueType::kRef, Value::of(list)};
  }
  const size_t equals = text.find('=');
  for (const ValueType type : {ValueType::kI32, ValueType::kI64, ValueType::kF32, ValueType::kF64}) {
    if (equals == text.npos || text.substr(0, equals) != bytecode::value_type_name(type)) continue;
    BATON_TRY_ASSIGN(const Value value, parse_scalar(text.substr(equals + 1), type));
    return vm::List::Element{type, value};
  }
  BATON_TRY_ASSIGN(vm::Object * tensor, values.input(text));
  return vm::List::Element{ValueType::kRef, Value::of(tensor)};
}

// "!i32=1;4xf32=2;!{i64=3;null}"; "!" alone is empty.
Result<vm::Object*> parse_list(std::string_view text, TensorValues& values) {
  std::string_view rest = text.substr(1);
  if (rest.starts_with('{') && rest.ends_with('}')) rest = rest.substr(1, rest.size() - 2);
  Ref<vm::List> list = vm::List::make();
  while (list && !rest.empty()) {
    BATON_TRY_ASSIGN(const vm::List::Element element, parse_element(take_element(rest), values));
    if (!list->push(element.type, element.value)) list = nullptr;
  }
  if (!list) return failure(StatusCode::kResourceExhausted, "there is no memory for the list");
  return values.keep(list.detach());
}

Result<Value> parse_reference(std::string_view input, const SignatureType& expected, TensorValues* values) {
  if (is_null(input)) return Value();
  if (values && expected.ref_type == "hal.buffer_view") {
    BATON_TRY_ASSIGN(vm::Object * tensor, values->input(input));
    return Value::of(tensor);
  }
  if (values && expected.ref_type == "hal.buffer") {
    BATON_TRY_ASSIGN(vm::Object * buffer, values->storage(input));
    return Value::of(buffer);
  }
  const bool may_be_list = expected.ref_type.empty() || expected.ref_type == vm::List::kType.name;
  if (values && may_be_list && input.starts_with('!')) {
    BATON_TRY_ASSIGN(vm::Object * list, parse_list(input, *values));
    return Value::of(list);
  }
  BATON_TRY_ASSIGN(const std::string_view value, without_type(input, expected));
  if (value == "null") return Value();
  return failure(StatusCode::kInvalidArgument, "only null can be given for a reference (", type_name(expected), ")");
}

Result<Value> parse_input(std::string_view input, const SignatureType& expected, TensorValues* values) {
  if (expected.type == ValueType::kRef) return parse_reference(input, expected, values);
  BATON_TRY_ASSIGN(const std::string_view value, without_type(input, expected));
  return parse_scalar(value, expected.type);
}

}  // namespace

Result<Value> parse_scalar(std::string_view text, ValueType type) {
  if (std::optional<Value> value = parse_value(text, type)) return *value;
  return failure(StatusCode::kInvalidArgument, "'", text, "' is not a value of type ", bytecode::value_type_name(type));
}

Result<std::vector<Value>> parse_inputs(std::string_view function, std::string_view signature,
                                        const std::vector<std::string>& given, TensorValues* tensors, size_t appended) {
  BATON_TRY_ASSIGN(const Signature parsed, bytecode::parse_signature(signature));
  const std::string described = bytecode::describe_signature(signature);
  for (const Signature::Argument& argument : parsed.arguments) {
    if (!argument.segment.empty()) {
      return failure(StatusCode::kUnimplemented, "function '", function, "' is ", described,
                     "; variadic functions cannot be called from the command line");
    }
  }
  std::vector<std::string> inputs = given;
  if (tensors) {
    tensors->files().rewind();
    BATON_TRY_ASSIGN(inputs, tensors->files().expand(given));
  }
  const size_t wanted = parsed.arguments.size() - appended;
  if (inputs.size() != wanted) {
    return failure(StatusCode::kInvalidArgument, "function '", function, "' is ", described, ": it takes ", wanted,
                   " --input= values, and ", inputs.size(), " were given");
  }
  std::vector<Value> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Result<Value> value = parse_input(inputs[i], parsed.arguments[i].type, tensors);
    if (!value) {
      return failure(value.error().code(), "function '", function, "' is ", described, ": --input=", inputs[i],
                     " does not fit argument ", i, "; ", value.error().message());
    }
    values.push_back(*value);
  }
  if (tensors) BATON_TRY(tensors->files().check_used_up());
  return values;
}

}  // namespace baton::tools::flags
