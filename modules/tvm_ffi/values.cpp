#include "modules/tvm_ffi/values.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace baton::modules::tvm_ffi {
namespace {

Status unlike(const Any& value, std::string_view wanted) {
  return failure(StatusCode::kInvalidArgument, "It returned ", describe(value), ", and the program takes ", wanted,
                 ".");
}

bool is_integer(const Any& value) { return value.type_index == kInt || value.type_index == kBool; }

Status take_integer(const Any& value, Kind kind, baton_value& out) {
  if (!is_integer(value)) return unlike(value, kind == Kind::kI64 ? "an i64" : "an i32");
  if (kind == Kind::kI64) {
    out = baton_value_of_i64(value.integer);
  } else if (value.integer >= INT32_MIN && value.integer <= INT32_MAX) {
    out = baton_value_of_i32(static_cast<int32_t>(value.integer));
  } else {
    return failure(StatusCode::kOutOfRange, "It returned ", value.integer, ", which is no i32.");
  }
  return {};
}

Status take_real(const Any& value, Kind kind, baton_value& out) {
  if (value.type_index != kFloat && !is_integer(value)) return unlike(value, kind == Kind::kF64 ? "an f64" : "an f32");
  const double number = value.type_index == kFloat ? value.real : static_cast<double>(value.integer);
  if (kind == Kind::kF32 && !is_f32(number))
    return failure(StatusCode::kOutOfRange, "It returned ", number, ", which is no f32.");
  out = kind == Kind::kF64 ? baton_value_of_f64(number) : baton_value_of_f32(static_cast<float>(number));
  return {};
}

Status take_view(const Taker& taker, const Any& value, baton_object*& out) {
  if (value.type_index != kTensor) return unlike(value, "a tensor");
  if (!taker.device) {
    return failure(StatusCode::kInvalidArgument,
                   "It returned a tensor, and no argument says on which device the program uses it; give it a tensor "
                   "or a device.");
  }
  BATON_TRY_ASSIGN(auto view, take_tensor(*taker.runtime, *taker.device, value.object, taker.stream));
  out = wrap(std::move(view)).detach();
  return {};
}

Status take_blob(Any& value, baton_object*& out) {
  std::string_view bytes;
  if (!read_bytes(value, bytes)) return unlike(value, "a blob");
  out = sdk::Blob::copy(bytes).detach();
  if (out) return {};
  return failure(StatusCode::kResourceExhausted, "No memory for a blob of ", bytes.size(), " bytes.");
}

// Keeps the object for itself: the value is empty then.
Status take_object(const Taker& taker, Any& value, baton_object*& out) {
  if (value.type_index == kTensor && taker.device) return take_view(taker, value, out);
  if (is_borrowed(value)) return unlike(value, "an object");
  out = sdk::make<HeldObject>(taker.runtime, value).detach();
  value = Any();
  return {};
}

}  // namespace

const baton_object_type* held_object_type() { return HeldObject::object_type(); }

std::string describe(const Any& value) {
  switch (value.type_index) {
    case kNone: return "None";
    case kInt: return "an int";
    case kBool: return "a bool";
    case kFloat: return "a float";
    case kRawText:
    case kSmallText:
    case kText: return "a str";
    case kSmallBytes:
    case kByteArrayPtr:
    case kBytes: return "bytes";
    case kTensorView: return "a borrowed tensor";
    case kTensor: return "a tensor";
    case kFunction: return "a function";
    case kOpaquePointer: return "an opaque pointer";
    case kDataType: return "a dtype";
    case kDevice: return "a device";
    case kShape: return "a shape";
    case kArray: return "an array";
    case kMap: return "a map";
    case kModule: return "a module";
    default: return text("a value of type ", value.type_index);
  }
}

bool is_plain(const Signature& signature) {
  const auto is_passed_plainly = [](const Parameter& each) {
    return each.kind == Kind::kView || (each.kind < Kind::kView && each.element == hal::ElementType::kNone);
  };
  return !signature.is_command && signature.arguments.size() <= kPlainArgumentsMax && signature.results.size() <= 1 &&
         std::all_of(signature.arguments.begin(), signature.arguments.end(), is_passed_plainly) &&
         std::all_of(signature.results.begin(), signature.results.end(),
                     [](const Parameter& each) { return each.element == hal::ElementType::kNone; });
}

bool has_numbers_alone(const Signature& signature) {
  const auto is_number = [](const Parameter& each) { return each.kind <= Kind::kBool; };
  return std::all_of(signature.arguments.begin(), signature.arguments.end(), is_number) &&
         std::all_of(signature.results.begin(), signature.results.end(), is_number);
}

PlainCallPlan plan_of(const Signature& plain) {
  PlainCallPlan plan;
  for (const Parameter& each : plain.arguments) plan.arguments[plan.count++] = each.kind;
  plan.has_result = !plain.results.empty();
  if (plan.has_result) plan.result = plain.results[0].kind;
  return plan;
}

Result<Any> any_of_bytes(const Runtime& runtime, Kind kind, std::string_view bytes) {
  const ByteArray all = {bytes.data(), bytes.size()};
  Any any;
  const int code = kind == Kind::kBytes ? runtime.bytes_from_bytes(&all, &any) : runtime.text_from_bytes(&all, &any);
  if (code != 0) return runtime.take_error(code);
  return any;
}

int32_t cuda_ordinal(const hal::Device& device) {
  constexpr std::string_view kStart = "cuda://";
  const std::string_view name = device.name();
  if (!name.starts_with(kStart)) return -1;
  int32_t ordinal = 0;
  std::from_chars(name.data() + kStart.size(), name.data() + name.size(), ordinal);
  return ordinal;
}

Any any_of_device(const hal::Device& device) {
  const int32_t ordinal = cuda_ordinal(device);
  Any any;
  any.type_index = kDevice;
  any.device = ordinal < 0 ? baton_dl_device{BATON_DL_CPU, 0} : baton_dl_device{BATON_DL_CUDA, ordinal};
  return any;
}

bool read_bytes(Any& value, std::string_view& out) {
  switch (value.type_index) {
    case kRawText: out = static_cast<const char*>(value.pointer); return true;
    case kSmallText:
    case kSmallBytes: out = {value.bytes, value.small_size}; return true;
    case kText:
    case kBytes: {
      const auto& all = cell_of<ByteArray>(value.object);
      out = {all.data, all.size};
      return true;
    }
    case kByteArrayPtr: {
      const auto& all = *static_cast<const ByteArray*>(value.pointer);
      out = {all.data, all.size};
      return true;
    }
    default: return false;
  }
}

Status take_result(const Taker& taker, const Parameter& parameter, Any& value, baton_value& out,
                   baton_object*& out_object) {
  switch (parameter.kind) {
    case Kind::kI32:
    case Kind::kI64:
    case Kind::kBool: return take_integer(value, parameter.kind, out);
    case Kind::kF32:
    case Kind::kF64: return take_real(value, parameter.kind, out);
    default: break;
  }
  if (value.type_index == kNone) return {};  // A null reference.
  switch (parameter.kind) {
    case Kind::kTensor:
    case Kind::kView: return take_view(taker, value, out_object);
    case Kind::kString:
    case Kind::kBytes: return take_blob(value, out_object);
    default: return take_object(taker, value, out_object);
  }
}

}  // namespace baton::modules::tvm_ffi
