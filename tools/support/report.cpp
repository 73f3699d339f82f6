#include "tools/support/report.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace baton::tools {
namespace {

std::string& program_name() {
  static std::string name = "baton";
  return name;
}

Status& late_failure() {
  static Status failure;
  return failure;
}

void print_error(const Status& status) {
  const std::string sentence = text(program_name(), ": ", status.to_string(), "\n");
  std::fwrite(sentence.data(), 1, sentence.size(), stderr);
}

Status flush_output() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return Status();
  return failure(StatusCode::kDataLoss, "standard output could not be written (", std::strerror(errno), ")");
}

}  // namespace

void tell_what_is_awaited(std::string_view path, std::string_view what) {
  if (path != "-" || !isatty(STDIN_FILENO)) return;
  const std::string line =
      text(program_name(), ": reads ", what, " from the terminal, up to Ctrl-D; --help tells more\n");
  std::fputs(line.c_str(), stderr);
}

Status refuse_binary_on_terminal(std::string_view path, std::string_view noun, std::string_view name) {
  if (path != "-" || !isatty(STDOUT_FILENO)) return {};
  return failure(StatusCode::kInvalidArgument, noun, " is no text for a terminal; say where it goes, as in -o ", name);
}

void set_program_name(std::string_view name) {
  program_name() = name;
  // A reader that went away shall be an error like any other, not a silent end.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // So is a file that may not grow.
}

int report(const Status& status) {
  const Status flushed = flush_output();
  if (!status.ok()) print_error(status);
  if (!flushed.ok()) print_error(flushed);
  if (!late_failure().ok()) print_error(late_failure());
  return status.ok() && flushed.ok() && late_failure().ok() ? 0 : 1;
}

std::string in_colour(std::string_view words, Colour colour) {
  static const bool is_coloured = isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR");
  if (!is_coloured) return std::string(words);
  return text(colour == Colour::kRed ? "\033[31m" : "\033[32m", words, "\033[m");
}

void report_later(Status status) {
  if (late_failure().ok()) late_failure() = std::move(status);
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace baton::tools
