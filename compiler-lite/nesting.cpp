#include "compiler-lite/nesting.hpp"

#include <algorithm>

namespace baton::compiler_lite {
namespace {

// Behind a string or a comment that begins at `begin`; at `begin` where there is none.
size_t skip_text(std::string_view text, size_t begin) {
  if (text.substr(begin, 2) == "//") return std::min(text.find('\n', begin), text.size());
  if (text[begin] != '"') return begin;
  size_t end = begin + 1;
  while (end < text.size() && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

// -> is an arrow, <= and >= compare.
bool is_bracket(std::string_view text, size_t place) {
  const char next = place + 1 < text.size() ? text[place + 1] : '\0';
  if (text[place] == '<') return next != '=';
  if (text[place] == '>') return next != '=' && (place == 0 || text[place - 1] != '-');
  return true;
}

std::string complain(std::string_view text, std::string_view name, size_t place) {
  size_t line = 1, line_begin = 0;
  for (size_t i = 0; i < place; ++i) {
    if (text[i] != '\n') continue;
    ++line;
    line_begin = i + 1;
  }
  return std::string(name) + ":" + std::to_string(line) + ":" + std::to_string(place - line_begin + 1) +
         ": error: the program is nested deeper than " + std::to_string(kNestingMax) + " levels here.\n";
}

}  // namespace

std::string check_nesting(std::string_view text, std::string_view name) {
  int depth = 0, signs = 0;  // Each sign of -----x is a level, too.
  for (size_t place = 0; place < text.size();) {
    if (const size_t behind = skip_text(text, place); behind != place) {
      place = behind;
      continue;
    }
    const char c = text[place];
    signs = c == '-' ? signs + 1 : c == ' ' || c == '\n' || c == '\t' ? signs : 0;
    if ((c == '(' || c == '[' || c == '{' || c == '<') && is_bracket(text, place)) ++depth;
    if ((c == ')' || c == ']' || c == '}' || c == '>') && is_bracket(text, place) && depth > 0) --depth;
    if (depth > kNestingMax || signs > kNestingMax) return complain(text, name, place);
    ++place;
  }
  return {};
}

}  // namespace baton::compiler_lite
