#include "tools/check/test_report.hpp"

#include "base/text.hpp"
#include "tools/support/report.hpp"

namespace baton::tools::check {
namespace {

std::string count_of(size_t count, std::string_view thing) { return text(count, " ", thing, count == 1 ? "" : "s"); }

int64_t milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
}

void print_line(Colour colour, std::string_view mark, std::string_view line) {
  print(text(in_colour(mark, colour), " ", line, "\n"));
}

}  // namespace

TestReport::TestReport(size_t tests, size_t modules)
    : all_{text(count_of(tests, "test"), " from ", count_of(modules, "module")), tests, Clock::now()} {
  print_line(Colour::kGreen, "[==========]", text("Running ", all_.name, "."));
}

void TestReport::begin_module(std::string_view name, size_t tests) {
  module_ = {text(count_of(tests, "test"), " from ", name), tests, Clock::now()};
  print_line(Colour::kGreen, "[----------]", module_.name);
}

void TestReport::end_module() {
  print_line(Colour::kGreen, "[----------]",
             text(module_.name, " (", milliseconds_since(module_.begin), " ms total)\n"));
}

void TestReport::begin_test(std::string_view name) {
  test_ = {std::string(name), 1, Clock::now()};
  print_line(Colour::kGreen, "[ RUN      ]", name);
}

void TestReport::end_test(const Status& outcome) {
  const std::string line = text(test_.name, " (", milliseconds_since(test_.begin), " ms)");
  if (outcome.ok()) {
    ++passed_;
    return print_line(Colour::kGreen, "[       OK ]", line);
  }
  print(text(outcome.to_string(), "\n"));
  print_line(Colour::kRed, "[  FAILED  ]", line);
  failed_.push_back(test_.name);
}

void TestReport::finish() {
  print_line(Colour::kGreen, "[==========]", text(all_.name, " ran. (", milliseconds_since(all_.begin), " ms total)"));
  print_line(Colour::kGreen, "[  PASSED  ]", text(count_of(passed_, "test"), "."));
  if (failed_.empty()) return;
  print_line(Colour::kRed, "[  FAILED  ]", text(count_of(failed_.size(), "test"), ", listed below:"));
  for (const std::string& name : failed_) print_line(Colour::kRed, "[  FAILED  ]", name);
  print(text("\n ", failed_.size(), " FAILED ", failed_.size() == 1 ? "TEST" : "TESTS", "\n"));
}

}  // namespace baton::tools::check
