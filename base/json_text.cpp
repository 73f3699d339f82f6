#include "base/json_text.hpp"

#include <cstddef>
#include <cstdint>

namespace baton {
namespace {

constexpr std::string_view kMark = "\xef\xbf\xbd";  // U+FFFD

// Bytes of the character that `bytes`, which aren't empty, begin with; 0 when they begin with none. By table 3-7 of Unicode 15:
// no longer form than needed, no half of a pair, nothing beyond U+10FFFF.
size_t character_size(std::string_view bytes) {
  const auto at = [&](size_t index) { return static_cast<uint8_t>(bytes[index]); };
  const uint8_t first = at(0);
  if (first < 0x80) return 1;
  const size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || bytes.size() < size) return 0;
  const uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (at(1) < least || at(1) > most) return 0;
  for (size_t i = 2; i < size; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  return size;
}

void append_escaped(std::string& target, char letter) {
  static constexpr char kHex[] = "0123456789abcdef";
  const auto code = static_cast<uint8_t>(letter);
  if (letter == '"' || letter == '\\') {
    (target += '\\') += letter;
  } else if (code < 0x20) {
    ((target += "\\u00") += kHex[code >> 4]) += kHex[code & 15];
  } else {
    target += letter;
  }
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t size = character_size(bytes);
    if (size == 0) return false;
    bytes.remove_prefix(size);
  }
  return true;
}

std::string as_utf8(std::string_view bytes) {
  std::string target;
  while (!bytes.empty()) {
    const size_t size = character_size(bytes);
    target += size == 0 ? kMark : bytes.substr(0, size);
    bytes.remove_prefix(size == 0 ? 1 : size);
  }
  return target;
}

void append_json_string(std::string& target, std::string_view bytes) {
  target += '"';
  if (is_utf8(bytes)) {  // As nearly all are.
    for (const char letter : bytes) append_escaped(target, letter);
  } else {
    for (const char letter : as_utf8(bytes)) append_escaped(target, letter);
  }
  target += '"';
}

}  // namespace baton
