#include "tools/check/filter.hpp"

#include <algorithm>

namespace baton::tools::check {
namespace {

std::vector<std::string> split(std::string_view patterns) {
  std::vector<std::string> all;
  while (!patterns.empty()) {
    const std::string_view pattern = patterns.substr(0, patterns.find(':'));
    if (!pattern.empty()) all.emplace_back(pattern);
    patterns.remove_prefix(std::min(pattern.size() + 1, patterns.size()));
  }
  return all;
}

bool any_matches(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return matches(pattern, name); });
}

}  // namespace

Filter::Filter(std::string_view text) {
  const size_t minus = std::min(text.find('-'), text.size());
  taken_ = split(text.substr(0, minus));
  if (minus < text.size()) left_out_ = split(text.substr(minus + 1));
  if (taken_.empty()) taken_.emplace_back("*");
}

bool Filter::takes(std::string_view test) const { return any_matches(taken_, test) && !any_matches(left_out_, test); }

bool matches(std::string_view pattern, std::string_view name) {
  // Where to go on when what follows the last star does not fit: one letter later.
  size_t at = 0, letter = 0, star = pattern.npos, star_letter = 0;
  while (letter < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      star_letter = letter;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[letter])) {
      ++at;
      ++letter;
    } else if (star != pattern.npos) {
      at = star + 1;
      letter = ++star_letter;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == pattern.npos;
}

}  // namespace baton::tools::check
