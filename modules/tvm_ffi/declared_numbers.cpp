#include "modules/tvm_ffi/declared_numbers.hpp"

#include <cmath>
#include <limits>

#include "hal/element_value.hpp"

namespace baton::modules::tvm_ffi {
namespace {

using hal::ElementType;

// Of an integer without a sign in its name the program may have either in mind.
struct Bounds {
  int64_t least;
  int64_t most;
};
constexpr Bounds bounds_of(ElementType type) {
  const uint32_t bits = static_cast<uint32_t>(type) & 0xff;
  if (type == ElementType::kI1) return {0, 1};
  if (bits == 64) return {type == ElementType::kU64 ? 0 : INT64_MIN, INT64_MAX};
  const bool is_unsigned = hal::element_class(type) == hal::ElementClass::kUnsigned;
  const bool either = hal::element_class(type) == hal::ElementClass::kInteger && bits < 32;
  return {is_unsigned ? 0 : -(int64_t{1} << (bits - 1)), (int64_t{1} << (is_unsigned || either ? bits : bits - 1)) - 1};
}

// What the parameter is, also where nothing more is declared than what registers hold.
ElementType type_of(const Parameter& number) {
  constexpr ElementType kOfKind[] = {ElementType::kI32, ElementType::kI64, ElementType::kF32, ElementType::kF64,
                                     ElementType::kI1};
  return number.element != ElementType::kNone ? number.element : kOfKind[static_cast<size_t>(number.kind)];
}

std::string said(const Any& value) {
  if (value.type_index == kInt) return text(value.integer, " was given.");
  if (value.type_index == kFloat) return text(value.real, " was given.");
  return text(describe(value), " was given.");
}

Status refuse(ElementType type, const Any& value) {
  const std::string_view name = hal::element_type_name(type);
  const std::string_view article = name.starts_with('b') || name.starts_with('u') ? "a " : "an ";
  if (hal::is_float(type)) {
    return failure(StatusCode::kInvalidArgument, "It takes ", article, name, ", a number of ",
                   hal::element_bytes(type) * 8, " bits, and ", said(value));
  }
  const Bounds bounds = bounds_of(type);
  return failure(StatusCode::kInvalidArgument, "It takes ", article, name, ", an integer of ", bounds.least, " to ",
                 bounds.most, ", and ", said(value));
}

bool is_integer(const Any& value) { return value.type_index == kInt || value.type_index == kBool; }

// The bits of the nearest float; false where a finite number has none.
bool round_to(ElementType type, double number, uint64_t& bits) {
  auto* const element = reinterpret_cast<std::byte*>(&bits);
  hal::store_float(type, number, element);
  return std::isinf(number) || !std::isinf(hal::load_float(type, element));
}

void note(const std::vector<std::string>& declared, size_t fences, std::vector<Parameter>& parameters) {
  if (declared.size() + fences != parameters.size()) return;
  for (size_t i = 0; i < declared.size(); ++i) {
    Parameter& number = parameters[i];
    number.is_tensor = number.kind == Kind::kTensor && declared[i].starts_with("tensor<");
    if (number.kind > Kind::kBool) continue;
    const auto type = hal::parse_element_type(declared[i]);
    const uint32_t room = number.kind == Kind::kI32 ? 4 : number.kind == Kind::kI64 ? 8 : 0;  // None in floats.
    if (type && *type != type_of(number) && hal::element_bytes(*type) <= room) number.element = *type;
  }
}

}  // namespace

void note_declared(const app::Declaration& declaration, Signature& signature) {
  note(declaration.arguments, declaration.takes_fences ? 2 : 0, signature.arguments);
  note(declaration.results, 0, signature.results);
}

Status take_argument(const Parameter& number, const Any& value, baton_value& out) {
  const ElementType type = type_of(number);
  if (hal::is_float(type)) {
    const bool is_real = value.type_index == kFloat;
    const double real = is_real ? value.real : static_cast<double>(value.integer);
    if ((!is_real && !is_integer(value)) || !round_to(type, real, out.bits = 0)) return refuse(type, value);
    return {};
  }
  const Bounds bounds = bounds_of(type);
  if (!is_integer(value) || value.integer < bounds.least || value.integer > bounds.most) return refuse(type, value);
  out = is_wide(number.kind) ? baton_value_of_i64(value.integer)
                             : baton_value_of_i32(static_cast<int32_t>(value.integer));
  return {};
}

Status give_result(const Parameter& number, const baton_value& value, Any& out) {
  const ElementType type = type_of(number);
  if (number.element == ElementType::kNone) {
    out = any_of_number(number.kind, value);
    return {};
  }
  const auto* const element = reinterpret_cast<const std::byte*>(&value.bits);
  if (hal::is_float(type)) {
    out = any_of(hal::load_float(type, element));
    return {};
  }
  out = any_of(hal::load_integer(type, element));
  if (type == ElementType::kI1) out.type_index = kBool;
  if (type != ElementType::kU64 || out.integer >= 0) return {};
  return failure(StatusCode::kOutOfRange, "It gives ", static_cast<uint64_t>(out.integer),
                 ", a ui64 that TVM-FFI has no int for.");
}

}  // namespace baton::modules::tvm_ffi
