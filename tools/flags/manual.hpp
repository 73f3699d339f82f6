// What a tool tells of its flags in the forms that others read: a page for man, completions for three shells. The text is
// that of --help, so the three cannot differ from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace baton::tools::flags {

struct Flag {
  std::vector<std::string> names;  // "-o", "--output"; one name without dashes is a positional
  bool takes_value = false;
  std::string help;
  std::vector<std::string> choices;  // The values that the flag takes; empty: any value, or a file.

  bool is_positional() const { return !names.front().starts_with('-'); }
};

struct Manual {
  std::string name;
  std::string version;  // as --version prints it
  std::string purpose;
  std::string examples;
  std::vector<Flag> flags;
};

std::string man_page(const Manual& manual);
std::string bash_completion(const Manual& manual);
std::string fish_completion(const Manual& manual);
std::string zsh_completion(const Manual& manual);

}  // namespace baton::tools::flags
