#include "hal/drivers/cuda/required_block.hpp"

#include <elf.h>

#include <charconv>

#include "base/bytes.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using Code = std::span<const std::byte>;
using Block = std::array<uint32_t, 3>;

// "64, 1, 1"; what is left out is 1.
std::optional<Block> parse_block(std::string_view text) {
  Block block = {1, 1, 1};
  for (uint32_t& size : block) {
    const size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    text.remove_prefix(begin);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size == 0) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.starts_with(',')) return block;
    text.remove_prefix(1);
  }
  return block;
}

// Bytes of a section, which check_image() has found inside the file; the name table may say anything.
Code contents(Code cubin, const Elf64_Shdr& section) {
  return section.sh_type == SHT_NOBITS ? Code() : cubin.subspan(section.sh_offset, section.sh_size);
}

Elf64_Shdr section_at(Code cubin, const Elf64_Ehdr& header, uint64_t index) {
  return load_bytes<Elf64_Shdr>(cubin.data() + header.e_shoff + index * sizeof(Elf64_Shdr));
}

// Whether the name that begins there is this one.
bool is_named(Code names, uint32_t at, std::string_view wanted) {
  if (at >= names.size()) return false;
  const std::string_view rest(reinterpret_cast<const char*>(names.data()) + at, names.size() - at);
  return rest.starts_with(wanted) && (rest.size() == wanted.size() || rest[wanted.size()] == '\0');
}

// Records of a kernel's .nv.info: a form, an attribute, and 16 bits that are its value or how many bytes follow.
std::optional<Block> find_block(Code info) {
  constexpr uint8_t kBytesFollow = 4, kRequiredBlock = 0x10;
  while (info.size() >= 4) {
    const auto form = static_cast<uint8_t>(info[0]);
    const auto attribute = static_cast<uint8_t>(info[1]);
    const size_t bytes = form == kBytesFollow ? load_bytes<uint16_t>(info.data() + 2) : 0;
    info = info.subspan(4);
    if (bytes > info.size()) break;
    if (form == kBytesFollow && attribute == kRequiredBlock && bytes == sizeof(Block)) {
      const auto block = load_bytes<Block>(info.data());
      if (block[0] == 0 || block[1] == 0 || block[2] == 0) return std::nullopt;
      return block;
    }
    info = info.subspan(bytes);
  }
  return std::nullopt;
}

// Behind the quote that ends the string which begins at `begin`; there itself where none ends it on its line.
size_t end_of_string(std::string_view ptx, size_t begin) {
  for (size_t i = begin + 1; i < ptx.size() && ptx[i] != '\n'; i += ptx[i] == '\\' ? 2 : 1) {
    if (ptx[i] == '"') return i + 1;
  }
  return begin;
}

// Up to the first of the letters `ends` that is a word of PTX.
std::string without_comments(std::string_view ptx, std::string_view ends) {
  std::string text;
  for (size_t i = 0; i < ptx.size();) {
    if (const size_t end = ptx[i] == '"' ? end_of_string(ptx, i) : i; end != i) {
      text += "\"\"";
      i = end;
      continue;
    }
    const bool line = ptx.substr(i, 2) == "//", block = ptx.substr(i, 2) == "/*";
    if (!line && !block) {
      if (ends.find(ptx[i]) != ends.npos) break;
      text += ptx[i++];
      continue;
    }
    const size_t end = ptx.find(line ? "\n" : "*/", i + 2);
    if (end == ptx.npos) break;
    text += ' ';
    i = end + (line ? 0 : 2);
  }
  return text;
}

}  // namespace

std::string ptx_without_comments(std::string_view ptx) { return without_comments(ptx, ""); }

std::string ptx_head(std::string_view ptx) { return without_comments(ptx, "({;"); }

std::optional<Block> ptx_required_block(std::string_view ptx, std::string_view kernel) {
  constexpr std::string_view kEntry = ".entry", kRequired = ".reqntid";
  for (size_t at = ptx.find(kEntry); at != ptx.npos; at = ptx.find(kEntry, at + 1)) {
    std::string_view rest = ptx.substr(at + kEntry.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
    if (!rest.starts_with(kernel) || (rest.size() > kernel.size() && is_ptx_name(rest[kernel.size()]))) continue;
    const std::string_view head = rest.substr(0, rest.find_first_of("{;"));
    const size_t required = head.find(kRequired);
    if (required != head.npos) return parse_block(head.substr(required + kRequired.size()));
    at = ptx.size() - rest.size() + head.size();  // Nothing is read twice.
  }
  return std::nullopt;
}

std::optional<Block> cubin_required_block(Code cubin, std::string_view kernel) {
  const auto header = load_bytes<Elf64_Ehdr>(cubin.data());
  if (header.e_shstrndx >= header.e_shnum) return std::nullopt;
  const Code names = contents(cubin, section_at(cubin, header, header.e_shstrndx));
  const std::string wanted = ".nv.info." + std::string(kernel);
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr section = section_at(cubin, header, i);
    if (is_named(names, section.sh_name, wanted)) return find_block(contents(cubin, section));
  }
  return std::nullopt;
}

}  // namespace baton::hal::drivers::cuda
