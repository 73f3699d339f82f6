#include "modules/parameters_module/npy.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/bytes.hpp"
#include "base/text.hpp"

namespace baton::modules {
namespace {

using hal::ElementType;
using Bytes = std::span<const std::byte>;

struct Named {
  std::string_view name;  // Without the byte order.
  ElementType type;
};
constexpr Named kTypes[] = {{"b1", ElementType::kI1},  {"i1", ElementType::kI8},   {"i2", ElementType::kI16},
                            {"i4", ElementType::kI32}, {"i8", ElementType::kI64},  {"u1", ElementType::kU8},
                            {"u2", ElementType::kU16}, {"u4", ElementType::kU32},  {"u8", ElementType::kU64},
                            {"f2", ElementType::kF16}, {"f4", ElementType::kF32},  {"f8", ElementType::kF64},
                            {"c8", ElementType::kC64}, {"c16", ElementType::kC128}};

Status bad_npy(const auto&... reason) {
  return failure(StatusCode::kDataLoss, "the .npy data is not as NumPy writes it; ", reason...);
}

std::string_view text_at(Bytes bytes, size_t offset, size_t size) {
  return {reinterpret_cast<const char*>(bytes.data()) + offset, size};
}

// The header's dictionary, and where the elements begin.
struct Header {
  std::string_view dictionary;
  size_t data;
};
Result<Header> find_header(Bytes file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  if (file.size() < 10 || text_at(file, 0, kMagic.size()) != kMagic) return bad_npy("it does not begin with NUMPY");
  const auto version = load_bytes<uint8_t>(file.data() + 6), minor = load_bytes<uint8_t>(file.data() + 7);
  if (version < 1 || version > 3 || minor != 0) {
    return failure(StatusCode::kUnimplemented, "the .npy data has version ", version, ".", minor,
                   " of the format; 1.0, 2.0 and 3.0 are read");
  }
  const bool is_long = version >= 2;
  const size_t start = is_long ? 12 : 10;
  if (file.size() < start) return bad_npy("its header is cut off");
  const size_t size = is_long ? load_bytes<uint32_t>(file.data() + 8) : load_bytes<uint16_t>(file.data() + 8);
  if (size > file.size() - start) return bad_npy("its header of ", size, " bytes ends beyond the file");
  return Header{text_at(file, start, size), start + size};
}

// Takes `token` and the blanks before it from the beginning of `rest`, if it stands there.
bool take(std::string_view& rest, std::string_view token) {
  const std::string_view at = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
  if (!at.starts_with(token)) return false;
  rest = at.substr(token.size());
  return true;
}

// A text in either of Python's quotes, without escapes, which stand in no header; nothing when there is none.
std::optional<std::string_view> take_quoted(std::string_view& rest) {
  const std::string_view quote = take(rest, "'") ? "'" : take(rest, "\"") ? "\"" : "";
  const size_t end = quote.empty() ? rest.npos : rest.find(quote);
  if (end == rest.npos) return std::nullopt;
  const std::string_view quoted = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return quoted;
}

// The values of the three keys, as they stand there.
struct Entries {
  std::string_view descr, fortran_order, shape;
};

// A text, a tuple, a list or a word, up to the comma or the brace behind it.
std::string_view take_entry(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view all = rest;
  const size_t inside = all.starts_with('(') ? all.find(')') : all.starts_with('[') ? all.rfind(']') : 0;
  if (all.starts_with('\'') || all.starts_with('"')) {
    if (!take_quoted(rest)) return {};
  } else {
    rest.remove_prefix(std::min(all.find_first_of(",}", std::min(inside, all.size())), all.size()));
  }
  std::string_view entry = all.substr(0, all.size() - rest.size());
  return entry.substr(0, entry.find_last_not_of(' ') + 1);
}

// The whole of "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }   \n": a header that differs from its grammar anywhere
// was damaged, and the data would not begin where it says.
Result<Entries> parse_dictionary(std::string_view rest) {
  Entries entries;
  if (!take(rest, "{")) return bad_npy("its header is no dictionary");
  while (!take(rest, "}")) {
    const std::optional<std::string_view> key = take_quoted(rest);
    if (!key || !take(rest, ":")) return bad_npy("its header is no dictionary");
    std::string_view* const value = *key == "descr"           ? &entries.descr
                                    : *key == "fortran_order" ? &entries.fortran_order
                                    : *key == "shape"         ? &entries.shape
                                                              : nullptr;
    if (!value || !value->empty()) return bad_npy("its header has a key '", *key, "', which is strange or there twice");
    *value = take_entry(rest);
    if (value->empty()) return bad_npy("its '", *key, "' is missing");
    if (!take(rest, ",") && !rest.starts_with('}')) return bad_npy("its header is no dictionary");
  }
  for (const auto& [name, value] :
       {std::pair("descr", entries.descr), std::pair("fortran_order", entries.fortran_order),
        std::pair("shape", entries.shape)}) {
    if (value.empty()) return bad_npy("its '", name, "' is missing");
  }
  if (rest.find_first_not_of(' ') != rest.size() - 1 || rest.back() != '\n') {
    return bad_npy("its header does not end with a line's end");
  }
  return entries;
}

Result<ElementType> parse_descr(std::string_view value) {
  const std::optional<std::string_view> quoted = take_quoted(value);
  if (!quoted) return bad_npy("its 'descr' is no plain type");
  const std::string_view descr = *quoted;
  if (descr.size() < 3) return bad_npy("its type '", descr, "' is unknown");
  for (const Named& named : kTypes) {
    if (named.name != descr.substr(1)) continue;
    if (descr[0] == '<' || descr[0] == '=' || descr[0] == '|') return named.type;
    return failure(StatusCode::kUnimplemented, "the .npy data of type '", descr, "' is not little-endian");
  }
  return failure(StatusCode::kUnimplemented, "the .npy data has type '", descr, "', which no tensor has");
}

// "(2, 3)", "(2,)", "()".
Result<std::vector<int64_t>> parse_shape(std::string_view value) {
  std::string_view rest = value;
  if (!take(rest, "(") || !rest.ends_with(')')) return bad_npy("its 'shape' is no tuple");
  std::vector<int64_t> shape;
  while (!take(rest, ")")) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    int64_t extent = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc() || extent < 0) return bad_npy("its 'shape' has an extent that is no number");
    shape.push_back(extent);
    rest.remove_prefix(static_cast<size_t>(stop - rest.data()));
    take(rest, "L");  // Python 2 wrote its long numbers so.
    if (!take(rest, ",") && rest.find_first_not_of(' ') != rest.size() - 1) return bad_npy("its 'shape' is no tuple");
  }
  return shape;
}

// Extents may be zero, and then the others are of any size: those are refused too, because their product is of no use.
Result<uint64_t> length_of(const std::vector<int64_t>& shape, ElementType element_type) {
  uint64_t most = element_bytes(element_type);
  bool is_empty = false;
  for (const int64_t extent : shape) {
    is_empty |= extent == 0;
    if (extent != 0 && __builtin_mul_overflow(most, static_cast<uint64_t>(extent), &most)) most = ~uint64_t{0};
    if (most > INT64_MAX) return bad_npy("its 'shape' takes more bytes than there are");
  }
  return is_empty ? 0 : most;
}

}  // namespace

std::string_view numpy_type_name(ElementType type) {
  if (type == ElementType::kBF16) return "u2";  // NumPy has none; the bits stay.
  for (const Named& named : kTypes) {
    if (named.type == type) return named.name;
  }
  switch (hal::element_bytes(type)) {  // Signed ones are the integers that NumPy has.
    case 1: return "i1";
    case 2: return "i2";
    case 4: return "i4";
    default: return "i8";
  }
}

Result<NpyArray> parse_npy(Bytes file) {
  BATON_TRY_ASSIGN(const Header header, find_header(file));
  BATON_TRY_ASSIGN(const Entries entries, parse_dictionary(header.dictionary));
  BATON_TRY_ASSIGN(const ElementType element_type, parse_descr(entries.descr));
  BATON_TRY_ASSIGN(std::vector<int64_t> shape, parse_shape(entries.shape));
  BATON_TRY_ASSIGN(const uint64_t length, length_of(shape, element_type));
  if (!range_inside(header.data, length, file.size())) {
    return bad_npy("its shape takes ", length, " bytes, and ", file.size() - header.data, " are there");
  }
  if (entries.fortran_order != "False" && entries.fortran_order != "True") {
    return bad_npy("its 'fortran_order' is neither True nor False");
  }
  const bool is_fortran = shape.size() > 1 && entries.fortran_order == "True";
  const size_t end = header.data + static_cast<size_t>(length);
  return NpyArray{element_type, std::move(shape), is_fortran, file.subspan(header.data, length), end};
}

}  // namespace baton::modules
