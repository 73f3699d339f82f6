#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace baton {
namespace {

// One loop for both bases and signs: std::to_chars has a function, and for decimals a table, for each.
void append_number(std::string& target, uint64_t number, uint64_t base) {
  char digits[20];
  char* const end = digits + sizeof(digits);
  char* begin = end;
  do {
    *--begin = "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0);
  target.append(begin, end);
}

// Levenshtein distance, one row of the table at a time.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

struct NearName {
  size_t distance;
  std::string_view name;

  bool before(const NearName& other) const {
    return distance != other.distance ? distance < other.distance : name < other.name;
  }
};

}  // namespace

void TextPiece::append_to(std::string& target) const {
  switch (kind_) {
    case Kind::kText: target.append(text_, size_); break;
    case Kind::kZeroEnded: target.append(text_); break;
    case Kind::kLetter: target.append(1, static_cast<char>(number_)); break;
    case Kind::kUnsigned: append_number(target, number_, 10); break;
    case Kind::kSigned: {
      const bool is_negative = static_cast<int64_t>(number_) < 0;
      if (is_negative) target.append("-");
      append_number(target, is_negative ? 0 - number_ : number_, 10);
      break;
    }
    case Kind::kHex:
      target.append("0x");
      append_number(target, number_, 16);
      break;
    case Kind::kReal: {
      char digits[32];
      target.append(digits, std::to_chars(digits, digits + sizeof(digits), real_).ptr);
      break;
    }
  }
}

std::string join_text(std::span<const TextPiece> pieces) {
  std::string result;
  for (const TextPiece& piece : pieces) piece.append_to(result);
  return result;
}

std::string nearest_names(std::string_view name, std::span<const std::string_view> candidates) {
  constexpr size_t kNamesMax = 3;
  NearName near[kNamesMax + 1];  // The best so far, the best first, and room for the one that falls out.
  size_t count = 0;
  const size_t limit = std::max<size_t>(2, name.size() / 3);
  for (std::string_view candidate : candidates) {
    // The lengths' difference is the least that the distance can be, and much cheaper.
    if (candidate.size() > name.size() + limit || name.size() > candidate.size() + limit) continue;
    const NearName found{edit_distance(name, candidate), candidate};
    // A name that shares no character with the candidate is not near, however short both are.
    if (found.distance > limit || found.distance == std::max(name.size(), candidate.size())) continue;
    size_t at = count;
    for (; at > 0 && found.before(near[at - 1]); --at) near[at] = near[at - 1];
    near[at] = found;
    count = std::min(count + 1, kNamesMax);
  }
  std::string result;
  for (size_t i = 0; i < count; ++i) {
    const char* joint = i == 0 ? "did you mean '" : i + 1 == count ? " or '" : ", '";
    result.append(joint).append(near[i].name).append("'");
  }
  if (!result.empty()) result.append("?");
  return result;
}

}  // namespace baton
