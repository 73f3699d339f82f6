// What the terminal shows: a line a benchmark, once all have run, with the median of its repetitions and how far they
// lie apart. Keeps all samples for what is said at the end.
#pragma once

#include <benchmark/benchmark.h>

#include "tools/benchmark/samples.hpp"

namespace baton::tools {

class Reporter final : public benchmark::BenchmarkReporter {
 public:
  // Google Benchmark's own, which prints in place of this one when the user asked for another format.
  explicit Reporter(benchmark::BenchmarkReporter* printer = nullptr) : printer_(printer) {}

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

  const Samples& samples() const { return samples_; }
  bool failed() const { return failed_; }

 private:
  benchmark::BenchmarkReporter* printer_;
  size_t name_width_ = 0;
  std::map<int64_t, std::string>
      lines_;  // Repetitions are taken in turn and end in any order; lines keep that of registration.
  Samples samples_;
  bool failed_ = false;
};

// "12.3 ns", "4.56 us": three digits.
std::string duration_text(double ns);

}  // namespace baton::tools
