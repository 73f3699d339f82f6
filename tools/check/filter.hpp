// Which tests run, in GoogleTest's words: patterns with `*` and `?`, separated by colons; behind a minus those that do
// not.
//
//   math.*:shapes.*-*.slow
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace baton::tools::check {

class Filter {
 public:
  // Empty text, and a list of nothing but exclusions, take every test.
  explicit Filter(std::string_view text);
  bool takes(std::string_view test) const;

 private:
  std::vector<std::string> taken_;
  std::vector<std::string> left_out_;
};

// Whether all of `name` is what `pattern` says.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace baton::tools::check
