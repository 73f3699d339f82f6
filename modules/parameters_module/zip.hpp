// The directory of a ZIP archive, as NumPy's .npz files are: members one behind the other, and at the end what they are
// called and where they begin. Sizes beyond 4 GiB (ZIP64) are read too.
//
// The bytes are untrusted: members lie inside them. Nothing is unpacked here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace baton::modules {

struct ZipMember {
  std::string_view name;
  bool is_deflated;                  // False: the bytes are the member itself.
  std::span<const std::byte> bytes;  // In the archive.
  uint64_t size;                     // Of the member, as the archive claims.
  uint32_t checksum;                 // CRC-32 of the member.
};

// In the order of the directory. DATA_LOSS for what is no such archive, UNIMPLEMENTED for members that are packed in
// another way or encrypted.
Result<std::vector<ZipMember>> parse_zip(std::span<const std::byte> file);

}  // namespace baton::modules
