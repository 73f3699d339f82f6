#include "modules/parameters_module/npy.hpp"

#include <algorithm>
#include <charconv>

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
  const bool is_long = load_bytes<uint8_t>(file.data() + 6) >= 2;
  const size_t start = is_long ? 12 : 10;
  if (file.size() < start) return bad_npy("its header is cut off");
  const size_t size = is_long ? load_bytes<uint32_t>(file.data() + 8) : load_bytes<uint16_t>(file.data() + 8);
  if (size > file.size() - start) return bad_npy("its header of ", size, " bytes ends beyond the file");
  return Header{text_at(file, start, size), start + size};
}

// What stands behind "'key':", with leading blanks removed; empty when the key is missing.
std::string_view value_of(std::string_view dictionary, std::string_view key) {
  const size_t at = dictionary.find(text("'", key, "':"));
  if (at == std::string_view::npos) return {};
  std::string_view value = dictionary.substr(at + key.size() + 3);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value;
}

Result<ElementType> parse_descr(std::string_view value) {
  if (!value.starts_with('\'')) return bad_npy("its 'descr' is no plain type");
  const std::string_view descr = value.substr(1, value.find('\'', 1) - 1);
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
  const size_t end = value.find(')');
  if (!value.starts_with('(') || end == std::string_view::npos) return bad_npy("its 'shape' is no tuple");
  std::vector<int64_t> shape;
  for (std::string_view rest = value.substr(1, end - 1);;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" ,"), rest.size()));
    if (rest.empty()) return shape;
    int64_t extent = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc() || extent < 0) return bad_npy("its 'shape' has an extent that is no number");
    shape.push_back(extent);
    rest.remove_prefix(static_cast<size_t>(stop - rest.data()));
  }
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
  BATON_TRY_ASSIGN(const ElementType element_type, parse_descr(value_of(header.dictionary, "descr")));
  BATON_TRY_ASSIGN(std::vector<int64_t> shape, parse_shape(value_of(header.dictionary, "shape")));
  BATON_TRY_ASSIGN(const uint64_t length, length_of(shape, element_type));
  if (!range_inside(header.data, length, file.size())) {
    return bad_npy("its shape takes ", length, " bytes, and ", file.size() - header.data, " are there");
  }
  const bool is_fortran = shape.size() > 1 && !value_of(header.dictionary, "fortran_order").starts_with("False");
  const size_t end = header.data + static_cast<size_t>(length);
  return NpyArray{element_type, std::move(shape), is_fortran, file.subspan(header.data, length), end};
}

}  // namespace baton::modules
