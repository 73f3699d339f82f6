// The workgroup that a kernel requires of its launches (.reqntid, __block_size__, reqd_work_group_size), as its code says
// it. The driver does not tell, and refuses other launches without saying why.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace baton::hal::drivers::cuda {

// PTX with a space in the place of each comment and nothing between the quotes of its strings (paths, pragmas): neither
// means anything, whatever words are in it.
std::string ptx_without_comments(std::string_view ptx);
// The same of what stands before the first declaration's end: the version, the target, and how that one begins.
std::string ptx_head(std::string_view ptx);
inline bool is_ptx_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%';
}

// Reads it from PTX without comments, or from a cubin that check_image() accepted. Nothing when the kernel takes any
// workgroup, and for a fatbin, which the driver opens.
std::optional<std::array<uint32_t, 3>> ptx_required_block(std::string_view ptx, std::string_view kernel);
std::optional<std::array<uint32_t, 3>> cubin_required_block(std::span<const std::byte> cubin, std::string_view kernel);

}  // namespace baton::hal::drivers::cuda
