#include "tools/flags/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "baton_revision.h"
#include "modules/sdk/version.h"
#include "tools/flags/manual.hpp"
#include "tools/support/report.hpp"

namespace baton::tools::flags {
namespace {

// "baton-as 0.1.0 (3f2a91c04b7e)"; a tree without git knows no commit.
std::string version_of(const char* program) {
  constexpr std::string_view kRevision = BATON_REVISION;
  return baton::text(program, " ", BATON_VERSION, kRevision.empty() ? "" : " (", kRevision,
                     kRevision.empty() ? "" : ")");
}

constexpr std::string_view kAliasPrefix = "--iree-", kAliasPrefixToo = "--iree_";

// "--max-instructions" and "--max_instructions" are one name.
std::string without_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// The parser takes what C's strtoull() does, to which -1 is the largest number, and so is what is larger than that.
bool is_count(const std::string& given) {
  if (given.find('-') != given.npos) return false;
  char* end = nullptr;
  errno = 0;
  std::strtoull(given.c_str(), &end, 0);
  return errno == 0 && !given.empty() && end == given.c_str() + given.size();
}

// A tolerance that is no number would let nothing be equal, and one below 0 neither.
bool is_amount(const std::string& given) {
  char* end = nullptr;
  const double amount = std::strtod(given.c_str(), &end);
  return !given.empty() && end == given.c_str() + given.size() && amount >= 0;
}

// "--compare=$OLD", where OLD is not set, would be taken for a flag that was left out.
std::string refusal_of_empty(const std::string& given) {
  return given.empty() ? "the value is empty; leave the flag out for none" : "";
}

}  // namespace

struct CommandLine::Parser : CLI::App {
  using CLI::App::App;

  // One value a flag: in `--module=a.bvm b.bvm` the second is a positional.
  CLI::Option* many(const char* flag, std::vector<std::string>& target, const char* help) {
    return add_option(flag, target, help)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  void restrict_to(CLI::Option* option, std::vector<std::string> choices) {
    option->check(CLI::IsMember(choices));
    choices_[option] = std::move(choices);
  }

  bool is_toggle(const std::string& flag) {
    const CLI::Option* option = get_option_no_throw(flag);
    return option && option->get_items_expected_max() == 0;
  }

  Manual manual() {
    Manual manual{get_name(), version_of(get_name().c_str()), get_description(), examples, {}};
    for (CLI::Option* option : get_options()) {
      Flag flag{{}, option->get_items_expected_max() > 0, option->get_description(), choices_[option]};
      for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
      if (flag.names.empty()) flag.names.push_back(option->get_name());
      manual.flags.push_back(std::move(flag));
    }
    return manual;
  }

  std::string examples;
  std::string asked_form;  // --help-as

  std::vector<std::string> long_names() const {
    std::vector<std::string> names;
    for (const CLI::Option* option : get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back(name);
    }
    return names;
  }

 private:
  std::map<const CLI::Option*, std::vector<std::string>> choices_;
};

CommandLine::CommandLine(const Program& program)
    : name_(program.name), parser_(std::make_unique<Parser>(program.purpose, program.name)) {
  parser_->footer(baton::text("\nExamples:\n", program.examples));
  parser_->examples = program.examples;
  parser_->set_version_flag("--version", version_of(program.name), "Print the version and exit");
  choice("--help-as", parser_->asked_form, {"man", "bash", "fish", "zsh"},
         "Print this help as a page for man, or as the completions of a shell, and exit");
  parser_->get_formatter()->column_width(36);
}
CommandLine::~CommandLine() = default;

void CommandLine::text(const char* flag, std::string& target, const char* help) {
  parser_->add_option(flag, target, help)->check(refusal_of_empty);
}
void CommandLine::texts(const char* flag, std::vector<std::string>& target, const char* help) {
  parser_->many(flag, target, help);
}
void CommandLine::choice(const char* flag, std::string& target, std::vector<std::string> choices, const char* help) {
  parser_->restrict_to(parser_->add_option(flag, target, help), std::move(choices));
}
void CommandLine::choices(const char* flag, std::vector<std::string>& target, std::vector<std::string> choices,
                          const char* help) {
  parser_->restrict_to(parser_->many(flag, target, help), std::move(choices));
}
void CommandLine::number(const char* flag, uint64_t& target, const char* help) {
  parser_->add_option(flag, target, help)->check([](const std::string& given) {
    return is_count(given) ? std::string() : "'" + given + "' is no count; a whole number from 0 on is one";
  });
}
void CommandLine::real(const char* flag, double& target, const char* help) {
  parser_->add_option(flag, target, help)->check([](const std::string& given) {
    return is_amount(given) ? std::string() : "'" + given + "' is no amount; a number from 0 on is one";
  });
}
void CommandLine::toggle(const char* flag, bool& target, const char* help) { parser_->add_flag(flag, target, help); }
void CommandLine::positional(const char* name, std::string& target, const char* help) {
  parser_->add_option(name, target, help);
}
void CommandLine::positionals(const char* name, std::vector<std::string>& target, const char* help) {
  parser_->add_option(name, target, help);
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
  set_program_name(name_);
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) {
    Result<std::string> argument = canonical(argv[i]);
    if (!argument) return report(argument.error());
    // "--flag=" gives the empty text, which the parser takes from an argument of its own only.
    // "-o=file" is "-o file", as it is for the long names.
    if (argument->size() > 2 && (*argument)[0] == '-' && (*argument)[1] != '-' && (*argument)[2] == '=') {
      arguments.push_back(argument->substr(0, 2));
      arguments.push_back(argument->substr(3));
      continue;
    }
    const bool is_empty = argument->starts_with("--") && argument->find('=') == argument->size() - 1;
    if (is_empty) argument->pop_back();
    if (is_empty && parser_->is_toggle(*argument))
      return report(failure(StatusCode::kInvalidArgument, *argument, "= takes true, false or no value"));
    arguments.push_back(*argument);
    if (is_empty) arguments.emplace_back();
  }
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back.
  try {
    parser_->parse(std::move(arguments));
  } catch (const CLI::Success& asked) {  // --help, --version
    parser_->exit(asked);
    return report(Status());
  } catch (const CLI::ExtrasError&) {
    return report(failure(StatusCode::kInvalidArgument, "these arguments are not understood: ", extras()));
  } catch (const CLI::ParseError& error) {
    return report(failure(StatusCode::kInvalidArgument, error.what()));
  }
  if (parser_->asked_form.empty()) return std::nullopt;
  const std::string& form = parser_->asked_form;
  const auto write = form == "man"    ? man_page
                     : form == "bash" ? bash_completion
                     : form == "fish" ? fish_completion
                                      : zsh_completion;
  std::fputs(write(parser_->manual()).c_str(), stdout);
  return report(Status());
}

// A flag as its tool spells it, other arguments as they are; a failure for a flag that the tool does not have. "-march=x" is
// "--march=x", as compilers write it.
Result<std::string> CommandLine::canonical(const std::string& argument) const {
  if (argument.size() > 3 && argument[0] == '-' && argument[1] != '-' && argument[2] != '=') {
    const std::string asked = argument.substr(1, argument.find('=') - 1);
    for (const std::string& name : parser_->long_names()) {
      if (without_dashes(name) == without_dashes(asked)) return "--" + name + argument.substr(asked.size() + 1);
    }
  }
  if (argument.size() < 3 || !argument.starts_with("--")) return argument;
  const size_t end = std::min(argument.find('='), argument.size());
  std::string asked = argument.substr(2, end - 2);
  if (argument.starts_with(kAliasPrefix) || argument.starts_with(kAliasPrefixToo))
    asked = argument.substr(kAliasPrefix.size(), end - kAliasPrefix.size());
  const std::vector<std::string> names = parser_->long_names();
  for (const std::string& name : names) {
    if (without_dashes(name) == without_dashes(asked)) return baton::text("--", name, argument.substr(end));
  }
  std::vector<std::string> flags;
  for (const std::string& name : names) flags.push_back("--" + name);
  const std::vector<std::string_view> candidates(flags.begin(), flags.end());
  const std::string nearest = nearest_names("--" + asked, candidates);
  return failure(StatusCode::kInvalidArgument, "no flag --", asked, nearest.empty() ? "" : "; ", nearest,
                 nearest.empty() ? "; --help lists them" : "");
}

std::string CommandLine::extras() const {
  std::string list;
  for (const std::string& extra : parser_->remaining()) list += (list.empty() ? "" : " ") + extra;
  return list;
}

}  // namespace baton::tools::flags
