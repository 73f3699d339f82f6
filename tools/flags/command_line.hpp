// CommandLine: what a tool takes on its command line. Every tool says it the same way, so every tool answers the same
// way:
// --help with examples, --version, one sentence for a wrong flag, exit code 1.
//
//   CommandLine line({"baton-as", "Assembles text into a module file.", "  baton-as add.bvmasm -o add.bvm\n"});
//   line.positional("source", source, "The text to assemble; - reads standard input.");
//   if (std::optional<int> code = line.parse(argc, argv)) return *code;
//
// In names `-` and `_` are the same, and --iree-x means --x. CLI11 stays behind this face: it is a heavy header.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace baton::tools::flags {

class CommandLine {
 public:
  struct Program {
    const char* name;
    const char* purpose;   // one or two sentences
    const char* examples;  // lines as a user would type them, indented by two
  };
  explicit CommandLine(const Program& program);
  ~CommandLine();

  // Each names its target, which keeps its value when the flag is absent. `flag` is CLI11's: "--output,-o".
  void text(const char* flag, std::string& target, const char* help);  // not empty
  void texts(const char* flag, std::vector<std::string>& target, const char* help);
  void choice(const char* flag, std::string& target, std::vector<std::string> choices, const char* help);
  void choices(const char* flag, std::vector<std::string>& target, std::vector<std::string> choices, const char* help);
  // A whole number from 0 on, as C writes it: 16, +16, 0x10; 020, which is octal.
  void number(const char* flag, uint64_t& target, const char* help);
  void real(const char* flag, double& target, const char* help);  // 0, more, or inf
  void toggle(const char* flag, bool& target, const char* help);
  void positional(const char* name, std::string& target, const char* help);
  void positionals(const char* name, std::vector<std::string>& target, const char* help);

  // Reads the arguments. A code means that the program is done: help was printed, or an error.
  std::optional<int> parse(int argc, char** argv);

 private:
  struct Parser;
  Result<std::string> canonical(const std::string& argument) const;
  std::string extras() const;

  std::string name_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace baton::tools::flags
