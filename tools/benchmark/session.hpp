// One run of Google Benchmark as our tools have it: its flags beside ours, our report, a comparison with an earlier
// run.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "tools/benchmark/verdict.hpp"

namespace baton::tools {

class Session {
 public:
  // Keeps Google Benchmark's flags, which all begin with --benchmark_, and returns the rest.
  std::vector<char*> take_flags(int argc, char** argv);

  // For ranks: all of them measure the same in one order.
  void keep_order();
  // Google Benchmark's flags, with the program's name in front.
  std::vector<std::string>& flags() { return flags_; }

  // What is measured with; --benchmark_out= keeps it, and --compare= refuses a run that had it otherwise.
  void note(const std::string& name, std::string value) { conditions_[name] = std::move(value); }
  void note(const std::string& name, const std::vector<std::string>& values);

  // After all notes, before benchmarks are registered. `compare` is what --benchmark_out= wrote before, or empty.
  // `fail_on` is one of fail_on().
  Status begin(const std::string& compare, const std::string& fail_on = "never");
  static std::vector<std::string> fail_on() { return {"never", "slower", "unclear"}; }

  // Runs what is registered. For people: a line a benchmark, how noisy it was, and what changed; then true. When
  // another format was asked for: what Google Benchmark prints on standard output, and nothing else there.
  Result<bool> run();

  // A failure when a benchmark could not go on, or was slower where that is to fail; asked for at the end.
  Status outcome() const;

 private:
  Status check_written() const;
  void judge(const std::vector<Difference>& differences);

  std::vector<std::string> flags_;
  bool compares_ = false;
  bool failed_ = false;
  std::string fail_on_;
  std::string worse_;  // What is slower, or unclear, where that is to fail.
  Samples before_;
  Conditions conditions_;
};

}  // namespace baton::tools
