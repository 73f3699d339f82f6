// imports.inc says of each import what the function behind it is: a program compiled by these rows links.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "modules/hal_module/hal_module.hpp"

namespace baton::modules {
namespace {

struct Row {
  const char* name;
  const char* arguments;
  const char* results;
};
constexpr Row kRows[] = {
#define IMPORT(name, arguments, results, function, meaning) {name, arguments, results},
#include "modules/hal_module/imports.inc"
};

// The letters of bytecode/signature.hpp for a word of the table.
std::string letters(const std::string& word) {
  static const std::map<std::string, std::string> known = {
      {"i32", "i"},
      {"i64", "I"},
      {"index", "I"},
      {"blob", "r<blob>"},
      {"executable_row", "r<executable>"},
      {"resource", "Ir<hal.buffer>II"},
#define OBJECT(Class, name) {name, "r<hal." name ">"},
#define OWN_OBJECT(Class, name) OBJECT(Class, name)
#include "modules/hal_module/imports.inc"
  };
  const auto found = known.find(word);
  return found == known.end() ? "no type is called " + word : found->second;
}

// One side: the first word of each item; parentheses become a segment, its name is behind the dots.
std::string side(const std::string& text) {
  std::string all;
  bool is_type = true;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '(' || c == ')') {
      all += c == '(' ? "C" : "D";
      is_type = c == '(';
      at += 1;
    } else if (c == ',') {
      is_type = true;
      at += 1;
    } else if (c == ' ' || c == '.') {
      at += 1;
    } else {
      const size_t end = std::min(text.find_first_of(" ,().", at), text.size());
      if (is_type) all += letters(text.substr(at, end - at));
      is_type = false;
      at = end;
    }
  }
  return all.empty() ? "v" : all;
}

TEST(ImportsTest, StateTheSignaturesOfTheirFunctions) {
  const auto module = make_hal_module({});
  ASSERT_TRUE(module.has_value());
  ASSERT_EQ((*module)->export_count(), std::size(kRows));
  for (const Row& row : kRows) {
    const auto found = (*module)->find_export(row.name);
    ASSERT_TRUE(found) << row.name;
    EXPECT_EQ((*module)->export_at(*found).signature, side(row.arguments) + "_" + side(row.results)) << row.name;
  }
}

}  // namespace
}  // namespace baton::modules
