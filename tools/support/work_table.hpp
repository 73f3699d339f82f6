// WorkTable: how many floating-point operations each dispatch of a program does. The compiler leaves it in the module's
// attributes, "flops.executable.entry_point" = "2*w0*w3 + 64": a sum of products of numbers and of words of the dispatch's
// constants. A dispatch whose words are filled at each execution, or whose executable is another one's by name, is not known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "vm/program.hpp"

namespace baton::tools {

class WorkTable {
 public:
  void add(const vm::Program& program);
  void add(std::string_view key, std::string_view sum);

  // `constants`: the words with spaces between, `?` for one that is not known (hal/timeline_observer.hpp).
  std::optional<double> flops(std::string_view executable, std::string_view entry_point,
                              std::string_view constants) const;

 private:
  std::map<std::string, std::string, std::less<>> sums_;  // Empty: two programs say different things.
};

}  // namespace baton::tools
