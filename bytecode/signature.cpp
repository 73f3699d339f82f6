// Reading function types. Signatures come from files and plugins, so signature_shape() trusts nothing; everything else
// here is for text that it has accepted.
#include "bytecode/signature.hpp"

namespace baton::bytecode {
namespace {

constexpr uint32_t kRegistersMax = 65535;

constexpr bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_name_rest(char c) { return is_name_start(c) || (c >= '0' && c <= '9') || c == '.'; }

constexpr bool is_value_letter(char c) { return c == 'i' || c == 'I' || c == 'f' || c == 'F'; }

// Reads the type at text[at] and moves past it. False, and `at` on the offending letter, when there is none.
bool scan_type(std::string_view text, size_t& at, SignatureType& type) {
  const std::optional<ValueType> letter = value_type_from_letter(text[at]);
  if (!letter) return false;
  type = {*letter, {}};
  ++at;
  if (*letter != ValueType::kRef || at == text.size() || text[at] != '<') return true;
  const size_t begin = at + 1;
  const size_t end = text.find('>', begin);
  if (end == text.npos || !is_type_name(text.substr(begin, end - begin))) return false;
  type.ref_type = text.substr(begin, end - begin);
  at = end + 1;
  return true;
}

struct SideCounts {
  uint32_t values = 0;
  uint32_t refs = 0;
  uint32_t segments = 0;
};

// Reads one side from text[at]; false, and `at` on the offending letter, when it is malformed.
bool scan_side(std::string_view text, size_t& at, bool may_have_segments, SideCounts& counts) {
  if (at < text.size() && text[at] == 'v') {
    ++at;
    return true;
  }
  const size_t begin = at;
  size_t segment_begin = 0;  // After the C of the open segment; 0 outside.
  for (SignatureType type; at < text.size();) {
    if (is_value_letter(text[at])) {
      counts.values += segment_begin == 0;
      ++at;
    } else if (text[at] == 'C' && may_have_segments && segment_begin == 0) {
      segment_begin = ++at;
    } else if (text[at] == 'D' && segment_begin != 0 && at > segment_begin) {
      segment_begin = 0;
      ++counts.segments;
      ++at;
    } else if (text[at] == '_') {
      break;
    } else if (!scan_type(text, at, type)) {
      return false;
    } else if (segment_begin == 0) {
      ++counts.refs;
    }
  }
  return at > begin && segment_begin == 0;
}

// Where `_` parts the sides: type names may hold one too.
size_t find_divider(std::string_view signature) {
  for (size_t at = 0; at < signature.size(); ++at) {
    if (signature[at] == '<') at = signature.find('>', at);
    if (at == signature.npos) break;
    if (signature[at] == '_') return at;
  }
  return signature.npos;
}

std::string_view without_void(std::string_view side) { return side == "v" ? std::string_view() : side; }

// "(i32, (i32, ref)...)". Segments are counted from 1; 0 means outside of a segment.
void describe_side(std::string& target, std::string_view side) {
  const char* joint = "(";
  uint32_t open = 0;
  for (SignatureCursor at(side); at.next();) {
    const uint32_t here = at.in_segment() ? at.segment() + 1 : 0;
    if (open != 0 && here != open) target.append(")...");
    target.append(joint).append(here != 0 && here != open ? "(" : "");
    target.append(at.ref_type().empty() ? value_type_name(at.type()) : at.ref_type());
    joint = ", ";
    open = here;
  }
  if (*joint == '(') target.append(joint);
  target.append(open != 0 ? ")...)" : ")");
}

}  // namespace

bool is_type_name(std::string_view name) {
  if (name.empty() || !is_name_start(name[0])) return false;
  for (char c : name) {
    if (!is_name_rest(c)) return false;
  }
  return true;
}

Result<SignatureShape> signature_shape(std::string_view signature) {
  SideCounts arguments;
  SideCounts results;
  size_t at = 0;
  const bool well_formed = scan_side(signature, at, true, arguments) && at < signature.size() && signature[at] == '_' &&
                           scan_side(signature, ++at, false, results) && at == signature.size();
  if (!well_formed)
    return failure(StatusCode::kInvalidArgument, "Signature '", signature, "' is malformed at ", at, ".");
  if (arguments.values > kRegistersMax || arguments.refs > kRegistersMax || arguments.segments > kRegistersMax ||
      results.values > kRegistersMax || results.refs > kRegistersMax) {
    return failure(StatusCode::kInvalidArgument, "A signature of ", signature.size(), " letters needs more than ",
                   kRegistersMax, " registers of a bank.");
  }
  return SignatureShape{
      .argument_values = static_cast<uint16_t>(arguments.values),
      .argument_refs = static_cast<uint16_t>(arguments.refs),
      .result_values = static_cast<uint16_t>(results.values),
      .result_refs = static_cast<uint16_t>(results.refs),
      .segments = static_cast<uint16_t>(arguments.segments),
  };
}

void segment_shapes(std::string_view signature, SegmentShape* shapes) {
  for (SignatureCursor at(arguments_of(signature)); at.next();) {
    if (!at.in_segment()) continue;
    SegmentShape& shape = shapes[at.segment()];
    ++(is_ref(at.type()) ? shape.refs : shape.values);
  }
}

bool signatures_agree(std::string_view importer, std::string_view exporter) {
  if (importer == exporter) return true;
  size_t i = 0;
  size_t e = 0;
  for (SignatureType left, right; i < importer.size() && e < exporter.size();) {
    if (importer[i] != exporter[e]) return false;
    if (importer[i] != 'r') {
      ++i, ++e;
      continue;
    }
    if (!scan_type(importer, i, left) || !scan_type(exporter, e, right)) return false;
    if (!left.ref_type.empty() && !right.ref_type.empty() && left.ref_type != right.ref_type) return false;
  }
  return i == importer.size() && e == exporter.size();
}

std::string_view arguments_of(std::string_view signature) {
  return without_void(signature.substr(0, find_divider(signature)));
}

std::string_view results_of(std::string_view signature) {
  const size_t divider = find_divider(signature);
  return divider == signature.npos ? std::string_view() : without_void(signature.substr(divider + 1));
}

bool SignatureCursor::next() {
  while (!rest_.empty() && (rest_[0] == 'C' || rest_[0] == 'D')) {
    in_segment_ = rest_[0] == 'C';
    if (in_segment_) ++segments_;
    rest_.remove_prefix(1);
  }
  size_t at = 0;
  SignatureType type;
  if (rest_.empty() || !scan_type(rest_, at, type)) return false;
  type_ = type.type;
  ref_type_ = type.ref_type;
  rest_.remove_prefix(at);
  return true;
}

Result<Signature> parse_signature(std::string_view signature) {
  BATON_TRY_ASSIGN([[maybe_unused]] SignatureShape shape, signature_shape(signature));
  Signature parsed;
  size_t segments = 0;
  for (SignatureCursor at(arguments_of(signature)); at.next();) {
    const SignatureType type{at.type(), at.ref_type()};
    if (!at.in_segment()) {
      parsed.arguments.push_back({type, {}});
      continue;
    }
    if (at.segment() == segments) {
      parsed.arguments.emplace_back();
      ++segments;
    }
    parsed.arguments.back().segment.push_back(type);
  }
  for (SignatureCursor at(results_of(signature)); at.next();) parsed.results.push_back({at.type(), at.ref_type()});
  return parsed;
}

std::string describe_signature(std::string_view signature) {
  if (!signature_shape(signature)) return std::string(signature);
  std::string result;
  describe_side(result, arguments_of(signature));
  result.append(" -> ");
  describe_side(result, results_of(signature));
  return result;
}

}  // namespace baton::bytecode
