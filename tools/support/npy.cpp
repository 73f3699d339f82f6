#include "tools/support/npy.hpp"

#include <charconv>
#include <cstring>
#include <optional>

#include "base/bytes.hpp"
#include "base/text.hpp"

namespace baton::tools {
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

std::string_view numpy_name(ElementType type) {
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

// ---- ZIP ----

Status bad_npz(const auto&... reason) {
  return failure(StatusCode::kDataLoss, "the .npz data is not as NumPy writes it; ", reason...);
}

// The record at the end that says where the directory is; it stands before a comment of at most 64 KiB.
std::optional<size_t> find_directory_end(Bytes file) {
  constexpr size_t kRecord = 22;
  for (size_t at = file.size() >= kRecord ? file.size() - kRecord + 1 : 0; at-- > 0;) {
    if (load_bytes<uint32_t>(file.data() + at) == 0x06054b50) return at;
    if (file.size() - at > kRecord + 0xffff) break;
  }
  return std::nullopt;
}

struct Member {
  std::string_view name;  // Without ".npy".
  uint16_t method;
  uint32_t size;
  uint32_t local_header;
};

// One row of the directory at `at`, which moves behind it.
Result<Member> read_member(Bytes file, size_t& at) {
  constexpr size_t kRow = 46;
  if (!range_inside(at, kRow, file.size()) || load_bytes<uint32_t>(file.data() + at) != 0x02014b50) {
    return bad_npz("a row of its directory is missing");
  }
  const std::byte* row = file.data() + at;
  const size_t name_size = load_bytes<uint16_t>(row + 28);
  const size_t more = size_t{load_bytes<uint16_t>(row + 30)} + load_bytes<uint16_t>(row + 32);
  if (!range_inside(at + kRow, name_size + more, file.size())) return bad_npz("a row of its directory is cut off");
  std::string_view name = text_at(file, at + kRow, name_size);
  if (name.ends_with(".npy")) name.remove_suffix(4);
  at += kRow + name_size + more;
  return Member{name, load_bytes<uint16_t>(row + 10), load_bytes<uint32_t>(row + 20), load_bytes<uint32_t>(row + 42)};
}

Result<Bytes> bytes_of_member(Bytes file, const Member& member) {
  constexpr size_t kHead = 30;
  if (member.method != 0) {
    return failure(StatusCode::kUnimplemented, "array '", member.name, "' of the .npz data is compressed");
  }
  if (!range_inside(member.local_header, kHead, file.size())) return bad_npz("an array begins beyond the file");
  const std::byte* head = file.data() + member.local_header;
  const size_t start = member.local_header + kHead + load_bytes<uint16_t>(head + 26) + load_bytes<uint16_t>(head + 28);
  if (!range_inside(start, member.size, file.size())) return bad_npz("array '", member.name, "' is cut off");
  return file.subspan(start, member.size);
}

}  // namespace

Result<Tensor> parse_npy(Bytes file) {
  BATON_TRY_ASSIGN(const Header header, find_header(file));
  BATON_TRY_ASSIGN(const ElementType element_type, parse_descr(value_of(header.dictionary, "descr")));
  BATON_TRY_ASSIGN(std::vector<int64_t> shape, parse_shape(value_of(header.dictionary, "shape")));
  if (!value_of(header.dictionary, "fortran_order").starts_with("False") && shape.size() > 1) {
    return failure(StatusCode::kUnimplemented, "the .npy data is in Fortran order; only C order is read");
  }
  BATON_TRY_ASSIGN(TensorType type, parse_tensor_type(describe_tensor_type(shape, element_type)));
  const uint64_t length = type.length_bytes();
  if (!range_inside(header.data, length, file.size())) {
    return bad_npy("its ", describe_tensor_type(shape, element_type), " takes ", length, " bytes, and ",
                   file.size() - header.data, " are there");
  }
  const Bytes bytes = file.subspan(header.data, length);
  return Tensor{std::move(type), {bytes.begin(), bytes.end()}};
}

std::vector<std::byte> write_npy(const TensorType& type, Bytes bytes) {
  std::string shape;
  for (int64_t extent : type.shape) shape += text(extent, ",");
  std::string head = text("{'descr': '", hal::element_bytes(type.element_type) == 1 ? "|" : "<",
                          numpy_name(type.element_type), "', 'fortran_order': False, 'shape': (", shape, "), }");
  constexpr size_t kStart = 10;  // Magic, version, size; the elements begin at a multiple of 64.
  head.append(64 - (kStart + head.size() + 1) % 64, ' ') += '\n';
  std::string file =
      text("\x93NUMPY\x01", '\0', static_cast<char>(head.size() & 0xff), static_cast<char>(head.size() >> 8), head);
  file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto all = std::as_bytes(std::span(file));
  return {all.begin(), all.end()};
}

Result<Tensor> parse_npz(Bytes file, std::string_view name) {
  const std::optional<size_t> end = find_directory_end(file);
  if (!end) return bad_npz("it has no directory");
  const size_t count = load_bytes<uint16_t>(file.data() + *end + 10);
  size_t at = load_bytes<uint32_t>(file.data() + *end + 16);
  std::string known;
  for (size_t i = 0; i < count; ++i) {
    BATON_TRY_ASSIGN(const Member member, read_member(file, at));
    if (member.name != name) {
      known += text(known.empty() ? "" : ", ", member.name);
      continue;
    }
    BATON_TRY_ASSIGN(const Bytes bytes, bytes_of_member(file, member));
    return parse_npy(bytes);
  }
  return failure(StatusCode::kNotFound, "the .npz data has no array '", name, "'; it has ",
                 known.empty() ? "none" : known);
}

}  // namespace baton::tools
