#include "modules/tvm_ffi/function_signature.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.hpp"
#include "bytecode/signature.hpp"

namespace baton::modules::tvm_ffi {
namespace {

struct Word {
  std::string_view text;
  Kind kind;
  std::string_view letters;
};
constexpr Word kWords[] = {
    {"i32", Kind::kI32, "i"},
    {"i64", Kind::kI64, "I"},
    {"f32", Kind::kF32, "f"},
    {"f64", Kind::kF64, "F"},
    {"bool", Kind::kBool, "i"},
    {"tensor", Kind::kTensor, "r<hal.buffer_view>"},
    {"view", Kind::kView, "r<hal.buffer_view>"},
    {"string", Kind::kString, "r<blob>"},
    {"bytes", Kind::kBytes, "r<blob>"},
    {"device", Kind::kDevice, "r<hal.device>"},
    {"object", Kind::kObject, "r"},
    {"", Kind::kRange, "Ir<hal.buffer>II"},
    {"", Kind::kFence, "r<hal.fence>"},
};
constexpr std::string_view kCommandBuffer = "r<hal.command_buffer>";

std::string_view letters_of(Kind kind) {
  return std::find_if(std::begin(kWords), std::end(kWords), [kind](const Word& word) { return word.kind == kind; })
      ->letters;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> pieces;
  for (text = trimmed(text); !text.empty();) {
    const size_t end = std::min(text.find(mark), text.size());
    pieces.push_back(trimmed(text.substr(0, end)));
    if (end + 1 == text.size()) pieces.emplace_back();  // "a," ends with nothing, which is refused.
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

// ---- Words ----------------------------------------------------------------------------------------------------------

Status read_extent(std::string_view text, std::vector<int64_t>& shape) {
  int64_t extent = -1;
  if (text != "?") {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || end != text.data() + text.size() || extent < 0 || extent > UINT32_MAX) {
      return failure(StatusCode::kInvalidArgument, "'", text, "' is no extent of a tensor; write a number or '?'.");
    }
  }
  shape.push_back(extent);
  return {};
}

// "f32[4x?]": the range of a slot.
Result<Parameter> parse_range(std::string_view word) {
  const size_t open = word.find('[');
  Parameter range{.kind = Kind::kRange};
  BATON_TRY_ASSIGN(range.element, hal::parse_element_type(word.substr(0, open)));
  range.has_shape = true;
  for (const std::string_view extent : split(word.substr(open + 1, word.size() - open - 2), 'x')) {
    BATON_TRY(read_extent(extent, range.shape));
  }
  if (std::count(range.shape.begin(), range.shape.end(), -1) > 1) {
    return failure(StatusCode::kInvalidArgument, "'", word, "' has more than one open extent.");
  }
  return range;
}

Result<Parameter> parse_word(std::string_view word, bool is_command) {
  if (word.ends_with(']') && word.find('[') != word.npos && is_command) return parse_range(word);
  for (const Word& known : kWords) {
    if (known.text.empty() || known.text != word) continue;
    if (!is_command || (known.kind != Kind::kTensor && known.kind != Kind::kView)) return Parameter{known.kind};
    Parameter range{Kind::kRange};
    range.keeps = known.kind == Kind::kTensor;
    return range;
  }
  return failure(StatusCode::kInvalidArgument, "'", word,
                 "' is no word for what a function takes; there are i32, i64, f32, f64, bool, tensor, view, string, "
                 "bytes, device, object, and of commands f32[4x?].");
}

Status parse_side(std::string_view side, bool is_command, std::vector<Parameter>& out) {
  for (const std::string_view word : split(side, ',')) {
    BATON_TRY_ASSIGN(Parameter parameter, parse_word(word, is_command));
    out.push_back(std::move(parameter));
  }
  return {};
}

// "(a, b)" without its parentheses; one word may do without.
std::string_view inside(std::string_view side) {
  side = trimmed(side);
  return side.starts_with('(') && side.ends_with(')') ? side.substr(1, side.size() - 2) : side;
}

// ---- Imports --------------------------------------------------------------------------------------------------------

std::optional<Kind> kind_of(const bytecode::SignatureType& type) {
  switch (type.type) {
    case bytecode::ValueType::kI32: return Kind::kI32;
    case bytecode::ValueType::kI64: return Kind::kI64;
    case bytecode::ValueType::kF32: return Kind::kF32;
    case bytecode::ValueType::kF64: return Kind::kF64;
    default: break;
  }
  if (type.ref_type.empty()) return Kind::kObject;
  if (type.ref_type == "blob") return Kind::kString;
  if (type.ref_type == "hal.buffer_view") return Kind::kTensor;
  if (type.ref_type == "hal.device") return Kind::kDevice;
  if (type.ref_type == "hal.fence") return Kind::kFence;
  return std::nullopt;
}

Status unknown_type(const bytecode::SignatureType& type) {
  return failure(StatusCode::kUnimplemented, "A function of TVM-FFI takes and gives no '", type.ref_type, "'.");
}

Status add_argument(const bytecode::Signature& parsed, size_t& at, Signature& out) {
  const auto ref_type = [&](size_t index) -> std::string_view {
    return index < parsed.arguments.size() ? parsed.arguments[index].type.ref_type : std::string_view();
  };
  if (out.is_command && ref_type(at + 1) == "hal.buffer" && at + 3 < parsed.arguments.size()) {
    out.arguments.push_back({Kind::kRange});
    at += 4;
    return {};
  }
  const std::optional<Kind> kind = kind_of(parsed.arguments[at].type);
  if (!kind) return unknown_type(parsed.arguments[at].type);
  out.arguments.push_back({*kind});
  ++at;
  return {};
}

// ---- Schemas --------------------------------------------------------------------------------------------------------

struct SchemaKind {
  std::string_view type;
  Kind kind;
};
constexpr SchemaKind kSchemaKinds[] = {
    {"int", Kind::kI64},           {"float", Kind::kF64},          {"bool", Kind::kBool},
    {"DLTensor*", Kind::kView},    {"ffi.Tensor", Kind::kTensor},  {"Tensor", Kind::kTensor},
    {"ffi.String", Kind::kString}, {"std::string", Kind::kString}, {"const char*", Kind::kString},
    {"ffi.Bytes", Kind::kBytes},   {"Device", Kind::kDevice},
};

// The outermost "type" of each element of the first "args" list.
std::vector<std::string> schema_types(std::string_view schema) {
  constexpr std::string_view kArgs = "\"args\":[", kType = "\"type\":\"";
  std::vector<std::string> types;
  size_t at = schema.find(kArgs);
  if (at == schema.npos) return types;
  int depth = 0;
  for (at += kArgs.size(); at < schema.size() && (depth > 0 || schema[at] != ']'); ++at) {
    if (schema[at] == '{' && ++depth == 1 && schema.substr(at + 1).starts_with(kType)) {
      const size_t begin = at + 1 + kType.size();
      types.emplace_back(schema.substr(begin, schema.find('"', begin) - begin));
    } else if (schema[at] == '}') {
      --depth;
    }
  }
  return types;
}

}  // namespace

std::string Signature::text() const {
  const auto side = [](std::string start, const std::vector<Parameter>& parameters) {
    for (const Parameter& parameter : parameters) start += letters_of(parameter.kind);
    return start.empty() ? std::string("v") : start;
  };
  return baton::text(side(is_command ? std::string(kCommandBuffer) : std::string(), arguments), "_",
                     side(std::string(), results));
}

Result<Signature> parse_words(std::string_view words) {
  Signature signature;
  std::string_view rest = trimmed(words);
  constexpr std::string_view kCommand = "command";
  if (rest.starts_with(kCommand)) {
    signature.is_command = true;
    rest = trimmed(rest.substr(kCommand.size()));
  }
  const size_t arrow = rest.find("->");
  const std::string_view arguments = trimmed(rest.substr(0, arrow));
  if (!arguments.starts_with('(') || !arguments.ends_with(')') || (signature.is_command && arrow != rest.npos)) {
    return failure(StatusCode::kInvalidArgument, "'", words,
                   "' is no signature; write '(tensor, f32) -> tensor' or 'command(f32[?], view)'.");
  }
  BATON_TRY(parse_side(inside(arguments), signature.is_command, signature.arguments));
  if (arrow != rest.npos) BATON_TRY(parse_side(inside(rest.substr(arrow + 2)), false, signature.results));
  return signature;
}

Result<Signature> parse_import(std::string_view text) {
  BATON_TRY_ASSIGN(const bytecode::Signature parsed, bytecode::parse_signature(text));
  Signature signature;
  signature.is_command = text.starts_with(kCommandBuffer);
  for (const auto& argument : parsed.arguments) {
    if (argument.segment.empty()) continue;
    return failure(StatusCode::kUnimplemented, "A function of TVM-FFI takes no variadic segment.");
  }
  for (size_t at = signature.is_command ? 1 : 0; at < parsed.arguments.size();) {
    BATON_TRY(add_argument(parsed, at, signature));
  }
  const auto fences = std::count_if(signature.arguments.begin(), signature.arguments.end(),
                                    [](const Parameter& each) { return each.kind == Kind::kFence; });
  if (fences > 2) {
    return failure(StatusCode::kInvalidArgument, "A function takes a wait and a signal fence, and not ", fences,
                   " fences.");
  }
  for (const bytecode::SignatureType& type : parsed.results) {
    const std::optional<Kind> kind = kind_of(type);
    if (!kind || *kind == Kind::kFence) return unknown_type(type);
    signature.results.push_back({*kind});
  }
  return signature;
}

bool parse_schema(std::string_view schema, Signature& out) {
  const std::vector<std::string> types = schema_types(schema);
  for (size_t i = 0; i < types.size(); ++i) {
    if (i == 0 && types[0] == "None") continue;  // The result.
    const auto* known = std::find_if(std::begin(kSchemaKinds), std::end(kSchemaKinds),
                                     [&](const SchemaKind& kind) { return kind.type == types[i]; });
    if (known == std::end(kSchemaKinds)) return false;
    (i == 0 ? out.results : out.arguments).push_back({known->kind});
  }
  return !types.empty();
}

}  // namespace baton::modules::tvm_ffi
