#include "tools/support/numpy.hpp"

#ifdef BATON_TOOLS_ZLIB
#include <zlib.h>
#endif

#include <cstring>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "modules/parameters_module/npy.hpp"
#include "modules/parameters_module/zip.hpp"

namespace baton::tools {
namespace {

using Bytes = std::span<const std::byte>;
using modules::NpyArray;
using modules::ZipMember;

// Elements of which the first dimension runs fastest, brought into the order in which the last one does.
std::vector<std::byte> turn_around(const NpyArray& array) {
  const size_t width = element_bytes(array.element_type), rank = array.shape.size();
  std::vector<size_t> index(rank), stride(rank, width);
  for (size_t i = 1; i < rank; ++i) stride[i] = stride[i - 1] * static_cast<size_t>(array.shape[i - 1]);
  std::vector<std::byte> turned(array.bytes.size());
  size_t source = 0;
  for (size_t target = 0; target < turned.size(); target += width) {
    std::memcpy(turned.data() + target, array.bytes.data() + source, width);
    for (size_t i = rank; i-- > 0;) {
      source += stride[i];
      if (++index[i] < static_cast<size_t>(array.shape[i])) break;
      source -= stride[i] * index[i];
      index[i] = 0;
    }
  }
  return turned;
}

Result<Tensor> tensor_of(const NpyArray& array, std::shared_ptr<const void> owner) {
  BATON_TRY_ASSIGN(TensorType type, parse_tensor_type(describe_tensor_type(array.shape, array.element_type)));
  if (array.is_fortran) return Tensor::of(std::move(type), turn_around(array));
  return Tensor{std::move(type), array.bytes, std::move(owner)};
}

Status bad_member(std::string_view name, std::string_view reason) {
  return failure(StatusCode::kDataLoss, "member '", name, "' of the .npz data could not be unpacked; ", reason);
}

#ifdef BATON_TOOLS_ZLIB

// zlib's own numbers are 32 bits wide: large members go through in parts.
Status inflate_into(const ZipMember& member, std::span<std::byte> target) {
  constexpr size_t kMost = size_t{1} << 30;
  z_stream stream{};
  constexpr int kNoHeader = -MAX_WBITS;
  if (inflateInit2(&stream, kNoHeader) != Z_OK) return bad_member(member.name, "there is no memory for it");
  size_t read = 0, written = 0;
  int outcome = Z_OK;
  while (outcome == Z_OK) {
    const size_t in = std::min(member.bytes.size() - read, kMost), out = std::min(target.size() - written, kMost);
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(member.bytes.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(target.data() + written);
    stream.avail_out = static_cast<uInt>(out);
    outcome = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += out - stream.avail_out;
  }
  inflateEnd(&stream);
  if (outcome != Z_STREAM_END || written != target.size())
    return bad_member(member.name, "its packed bytes are damaged");
  return {};
}

uint32_t checksum_of(Bytes bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

Result<SharedBytes> unpack(const ZipMember& member, std::shared_ptr<const void> owner) {
  if (!member.is_deflated) return SharedBytes{member.bytes, std::move(owner)};
  // Deflate makes nothing more than 1032 times smaller: a larger claim is not worth its memory.
  if (member.size > kTensorBytesMax || member.size / 1032 > member.bytes.size()) {
    return bad_member(member.name, text("it claims to have ", member.size, " bytes"));
  }
  auto unpacked = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(member.size));
  BATON_TRY(inflate_into(member, *unpacked));
  if (checksum_of(*unpacked) != member.checksum) return bad_member(member.name, "its checksum is another");
  return SharedBytes{*unpacked, unpacked};
}

#else

Result<SharedBytes> unpack(const ZipMember& member, std::shared_ptr<const void> owner) {
  if (!member.is_deflated) return SharedBytes{member.bytes, std::move(owner)};
  return bad_member(member.name, "this program was built without zlib");
}

#endif

// As NumPy names it: without the extension.
std::string_view array_name(const ZipMember& member) {
  std::string_view name = member.name;
  if (name.ends_with(".npy")) name.remove_suffix(4);
  return name;
}

}  // namespace

Result<Tensor> read_npy(const SharedBytes& file, size_t& offset) {
  BATON_TRY_ASSIGN(const NpyArray array, modules::parse_npy(file.bytes.subspan(offset)));
  offset += array.end;
  return tensor_of(array, file.owner);
}

Result<Tensor> read_npz(const SharedBytes& file, std::string_view name) {
  BATON_TRY_ASSIGN(const std::vector<ZipMember> members, modules::parse_zip(file.bytes));
  std::string known;
  for (const ZipMember& member : members) {
    if (array_name(member) == name) {
      BATON_TRY_ASSIGN(const SharedBytes array, unpack(member, file.owner));
      size_t offset = 0;
      return read_npy(array, offset);
    }
    known += text(known.empty() ? "" : ", ", array_name(member));
  }
  return failure(StatusCode::kNotFound, "the .npz data has no array '", name, "'; it has ",
                 known.empty() ? "none" : known);
}

bool is_npz(Bytes file) { return file.size() >= 4 && std::memcmp(file.data(), "PK", 2) == 0; }

Result<std::vector<std::string>> npz_names(Bytes file) {
  BATON_TRY_ASSIGN(const std::vector<ZipMember> members, modules::parse_zip(file));
  std::vector<std::string> names;
  for (const ZipMember& member : members) names.emplace_back(array_name(member));
  return names;
}

Result<size_t> count_npy(Bytes file) {
  size_t count = 0;
  for (; !file.empty(); ++count) {
    BATON_TRY_ASSIGN(const NpyArray array, modules::parse_npy(file));
    file = file.subspan(array.end);
  }
  return count;
}

std::string npy_header(const TensorType& type) {
  std::string shape;
  for (int64_t extent : type.shape) shape += text(extent, ",");
  std::string head =
      text("{'descr': '", hal::element_bytes(type.element_type) == 1 ? "|" : "<",
           modules::numpy_type_name(type.element_type), "', 'fortran_order': False, 'shape': (", shape, "), }");
  constexpr size_t kStart = 10;  // Magic, version, size; the elements begin at a multiple of 64.
  head.append(64 - (kStart + head.size() + 1) % 64, ' ') += '\n';
  return text("\x93NUMPY\x01", '\0', static_cast<char>(head.size() & 0xff), static_cast<char>(head.size() >> 8), head);
}

}  // namespace baton::tools
