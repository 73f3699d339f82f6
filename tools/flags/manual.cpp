#include "tools/flags/manual.hpp"

#include <cctype>
#include <utility>

#include "base/text.hpp"

namespace baton::tools::flags {
namespace {

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? std::string() : std::string(separator)) + part;
  return all;
}

// Text for man: a backslash, a dash and what begins a line would be read as commands.
std::string roff(std::string_view text) {
  std::string escaped;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
    begins_line = c == '\n';
  }
  return escaped;
}

std::string capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// Text between single quotes of a shell.
std::string quoted(std::string_view text) {
  std::string inside;
  for (const char c : text) inside += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + inside + "'";
}

// Text inside a spec of zsh's _arguments, between single quotes: brackets and colons have a meaning there.
std::string zsh_words(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

// baton-run-module -> _baton_run_module
std::string function_name(std::string_view program) {
  std::string name = "_";
  for (const char c : program) name += c == '-' ? '_' : c;
  return name;
}

std::string man_flag(const Flag& flag) {
  std::vector<std::string> spelled;
  for (const std::string& name : flag.names) spelled.push_back("\\fB" + roff(name) + "\\fR");
  std::string line = ".TP\n" + joined(spelled, ", ");
  if (flag.takes_value && !flag.is_positional()) {
    line += flag.choices.empty() ? " \\fIvalue\\fR" : " " + roff(joined(flag.choices, "|"));
  }
  return line + "\n" + roff(flag.help) + "\n";
}

}  // namespace

std::string man_page(const Manual& manual) {
  std::string page =
      text(".TH ", capitals(manual.name), " 1 \"\" \"", roff(manual.version), "\" Baton\n.SH NAME\n", roff(manual.name),
           " \\- ", roff(manual.purpose), "\n.SH SYNOPSIS\n.B ", roff(manual.name), "\n[\\fIoptions\\fR]");
  std::string positionals;
  std::string options;
  for (const Flag& flag : manual.flags) {
    if (flag.is_positional()) page += " [\\fI" + roff(flag.names.front()) + "\\fR]";
    (flag.is_positional() ? positionals : options) += man_flag(flag);
  }
  if (!positionals.empty()) page += "\n.SH ARGUMENTS\n" + positionals;
  if (page.back() != '\n') page += '\n';
  return page + ".SH OPTIONS\n" + options + ".SH EXAMPLES\n.nf\n" + roff(manual.examples) + ".fi\n";
}

std::string bash_completion(const Manual& manual) {
  std::vector<std::string> words;
  std::string values;
  for (const Flag& flag : manual.flags) {
    if (flag.is_positional()) continue;
    for (const std::string& name : flag.names) words.push_back(name + (flag.takes_value && name.size() > 2 ? "=" : ""));
    if (flag.choices.empty()) continue;
    values += text("    ", joined(flag.names, "|"), ") COMPREPLY=($(compgen -W ", quoted(joined(flag.choices, " ")),
                   " -- \"$value\")); return ;;\n");
  }
  // Bash gives "--flag=va" as three words, because = is among the characters at which it breaks them.
  return text(function_name(manual.name),
              "() {\n"
              "  local value=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
              "  if [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
              "  if [ \"$value\" = = ]; then value=; before=${COMP_WORDS[COMP_CWORD-1]}; fi\n"
              "  case $before in\n",
              values,
              "    *) ;;\n  esac\n"
              "  COMPREPLY=()\n"
              "  case $value in\n"
              "    -*) COMPREPLY=($(compgen -W ",
              quoted(joined(words, " ")),
              " -- \"$value\"))\n"
              "        if [ \"${COMPREPLY[0]%=}\" != \"${COMPREPLY[0]}\" ]; then compopt -o nospace; fi ;;\n"
              "    *) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$value\")) ;;\n"
              "  esac\n}\ncomplete -F ",
              function_name(manual.name), " ", manual.name, "\n");
}

std::string fish_completion(const Manual& manual) {
  std::string lines;
  for (const Flag& flag : manual.flags) {
    if (flag.is_positional()) continue;
    lines += "complete -c " + manual.name;
    for (const std::string& name : flag.names) {
      lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (flag.takes_value) lines += " -r";
    if (!flag.choices.empty()) lines += " -f -a " + quoted(joined(flag.choices, " "));
    lines += " -d " + quoted(flag.help) + "\n";
  }
  return lines;
}

std::string zsh_completion(const Manual& manual) {
  std::string specs;
  bool has_files = false;  // _arguments takes one spec for the words that are no flags.
  for (const Flag& flag : manual.flags) {
    const std::string values =
        flag.choices.empty() ? ":value:_files" : ":value:(" + zsh_words(joined(flag.choices, " ")) + ")";
    if (flag.is_positional()) {
      if (std::exchange(has_files, true)) continue;
      specs += text(" \\\n  ", quoted("*:" + zsh_words(flag.names.front()) + ":_files"));
      continue;
    }
    for (const std::string& name : flag.names) {
      const char* const joint = !flag.takes_value ? "" : name.starts_with("--") ? "=" : "+";
      specs += text(" \\\n  ", quoted(text("*", name, joint, "[", zsh_words(flag.help), "]",
                                           flag.takes_value ? values : std::string())));
    }
  }
  return text("#compdef ", manual.name, "\n_arguments -s", specs, "\n");
}

}  // namespace baton::tools::flags
