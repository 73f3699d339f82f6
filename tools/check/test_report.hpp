// What a run of tests prints, in GoogleTest's form, which people and their scripts know.
// Threads: externally synchronized.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace baton::tools::check {

class TestReport {
 public:
  TestReport(size_t tests, size_t modules);

  void begin_module(std::string_view name, size_t tests);
  void end_module();
  void begin_test(std::string_view name);
  // Prints the failure, when it is one.
  void end_test(const Status& outcome);
  // Prints the sums and those that failed.
  void finish();

  size_t failed() const { return failed_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Group {
    std::string name;
    size_t tests;
    Clock::time_point begin;
  };

  Group all_;
  Group module_{};
  Group test_{};
  size_t passed_ = 0;
  std::vector<std::string> failed_;
};

}  // namespace baton::tools::check
