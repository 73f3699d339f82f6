#include "modules/parameters_module/zip.hpp"

#include <optional>

#include "base/bytes.hpp"

namespace baton::modules {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint32_t kBeyond32 = 0xffffffff;  // Stands where a ZIP64 record says more.
constexpr uint16_t kBeyond16 = 0xffff;

Status bad_zip(const auto&... reason) {
  return failure(StatusCode::kDataLoss, "the .npz data is not as NumPy writes it; ", reason...);
}

std::string_view text_at(Bytes bytes, size_t offset, size_t size) {
  return {reinterpret_cast<const char*>(bytes.data()) + offset, size};
}

bool has_mark(Bytes file, uint64_t offset, uint64_t size, uint32_t mark) {
  return range_inside(offset, size, file.size()) && load_bytes<uint32_t>(file.data() + offset) == mark;
}

struct Directory {
  uint64_t count;
  uint64_t offset;
};

// The record at the end that says where the directory is; it stands before a comment of at most 64 KiB.
std::optional<size_t> find_directory_end(Bytes file) {
  constexpr size_t kRecord = 22;
  for (size_t at = file.size() >= kRecord ? file.size() - kRecord + 1 : 0; at-- > 0;) {
    if (load_bytes<uint32_t>(file.data() + at) == 0x06054b50) return at;
    if (file.size() - at > kRecord + 0xffff) break;
  }
  return std::nullopt;
}

// What a large archive has before that record: a locator of a second one with wide numbers.
Result<Directory> wide_directory(Bytes file, size_t end) {
  constexpr size_t kLocator = 20, kRecord = 56;
  if (end < kLocator || !has_mark(file, end - kLocator, kLocator, 0x07064b50)) {
    return bad_zip("its record of wide numbers is missing");
  }
  const auto at = load_bytes<uint64_t>(file.data() + end - kLocator + 8);
  if (!has_mark(file, at, kRecord, 0x06064b50)) return bad_zip("its record of wide numbers is missing");
  return Directory{load_bytes<uint64_t>(file.data() + at + 32), load_bytes<uint64_t>(file.data() + at + 48)};
}

Result<Directory> find_directory(Bytes file) {
  const std::optional<size_t> end = find_directory_end(file);
  if (!end) return bad_zip("it has no directory");
  const auto count = load_bytes<uint16_t>(file.data() + *end + 10);
  const auto offset = load_bytes<uint32_t>(file.data() + *end + 16);
  if (count == kBeyond16 || offset == kBeyond32) return wide_directory(file, *end);
  return Directory{count, offset};
}

// One row of the directory, before it is believed.
struct Row {
  std::string_view name;
  uint16_t flags;
  uint16_t method;
  uint32_t checksum;
  uint64_t packed_size;
  uint64_t size;
  uint64_t local_header;
};

// The extra field 1 holds, in this order, those numbers that did not fit.
Status widen(Bytes extra, Row& row) {
  while (extra.size() >= 4) {
    const auto id = load_bytes<uint16_t>(extra.data());
    const auto size = load_bytes<uint16_t>(extra.data() + 2);
    if (size > extra.size() - 4) return bad_zip("an extra field is cut off");
    Bytes wide = extra.subspan(4, size);
    extra = extra.subspan(4 + size_t{size});
    if (id != 1) continue;
    for (uint64_t* number : {&row.size, &row.packed_size, &row.local_header}) {
      if (*number != kBeyond32 || wide.size() < 8) continue;
      *number = load_bytes<uint64_t>(wide.data());
      wide = wide.subspan(8);
    }
  }
  return {};
}

// The row at `at`, which moves behind it.
Result<Row> read_row(Bytes file, uint64_t& at) {
  constexpr size_t kRow = 46;
  if (!has_mark(file, at, kRow, 0x02014b50)) return bad_zip("a row of its directory is missing");
  const std::byte* row = file.data() + at;
  const size_t name = load_bytes<uint16_t>(row + 28), extra = load_bytes<uint16_t>(row + 30);
  const size_t comment = load_bytes<uint16_t>(row + 32);
  if (!range_inside(at + kRow, name + extra + comment, file.size()))
    return bad_zip("a row of its directory is cut off");
  Row result{text_at(file, at + kRow, name), load_bytes<uint16_t>(row + 8),  load_bytes<uint16_t>(row + 10),
             load_bytes<uint32_t>(row + 16), load_bytes<uint32_t>(row + 20), load_bytes<uint32_t>(row + 24),
             load_bytes<uint32_t>(row + 42)};
  BATON_TRY(widen(file.subspan(at + kRow + name, extra), result));
  at += kRow + name + extra + comment;
  return result;
}

Result<ZipMember> find_member(Bytes file, const Row& row) {
  constexpr size_t kHead = 30;
  constexpr uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1;
  if ((row.method != kStored && row.method != kDeflated) || (row.flags & kEncrypted)) {
    return failure(StatusCode::kUnimplemented, "member '", row.name, "' of the .npz data is packed by method ",
                   row.method, (row.flags & kEncrypted) ? " and encrypted" : "",
                   "; only stored and deflated ones are read");
  }
  if (!has_mark(file, row.local_header, kHead, 0x04034b50)) {
    return bad_zip("member '", row.name, "' does not begin where its directory says");
  }
  const std::byte* head = file.data() + row.local_header;
  const uint64_t start = row.local_header + kHead + load_bytes<uint16_t>(head + 26) + load_bytes<uint16_t>(head + 28);
  if (!range_inside(start, row.packed_size, file.size())) return bad_zip("member '", row.name, "' is cut off");
  const bool is_deflated = row.method == kDeflated;
  if (!is_deflated && row.size != row.packed_size) {
    return bad_zip("member '", row.name, "' is stored in ", row.packed_size, " bytes and has ", row.size);
  }
  return ZipMember{row.name, is_deflated, file.subspan(start, row.packed_size), row.size, row.checksum};
}

}  // namespace

Result<std::vector<ZipMember>> parse_zip(Bytes file) {
  BATON_TRY_ASSIGN(const Directory directory, find_directory(file));
  std::vector<ZipMember> members;
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.count; ++i) {
    BATON_TRY_ASSIGN(const Row row, read_row(file, at));
    BATON_TRY_ASSIGN(const ZipMember member, find_member(file, row));
    members.push_back(member);
  }
  return members;
}

}  // namespace baton::modules
