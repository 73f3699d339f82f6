// One run of Google Benchmark as our tools have it: its flags beside ours, our report, a comparison with an earlier
// run.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "tools/benchmark/samples.hpp"

namespace baton::tools {

class Session {
 public:
  // Keeps Google Benchmark's flags, which all begin with --benchmark_, and returns the rest.
  std::vector<char*> take_flags(int argc, char** argv);

  // Before benchmarks are registered. `compare` is what --benchmark_out= wrote before, or empty.
  Status begin(const std::string& compare);

  // Runs what is registered. For people: a line a benchmark, how noisy it was, and what changed; then true. When
  // another format was asked for: what Google Benchmark prints, and nothing else.
  Result<bool> run();

  // A failure when a benchmark could not go on; asked for at the end.
  Status outcome() const;

 private:
  std::vector<std::string> flags_;  // With the program's name in front.
  bool compares_ = false;
  bool failed_ = false;
  Samples before_;
};

}  // namespace baton::tools
