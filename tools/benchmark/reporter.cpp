#include "tools/benchmark/reporter.hpp"

#include <cstdio>

#include "base/text.hpp"
#include "tools/support/report.hpp"

namespace baton::tools {

std::string duration_text(double ns) {
  constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  size_t unit = 0;
  while (ns >= 999.5 && unit + 1 < std::size(kUnits)) {
    ns /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.*f %s", ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0, ns, kUnits[unit]);
  return text;
}

bool Reporter::ReportContext(const Context& context) {
  name_width_ = std::max<size_t>(context.name_field_width, 24);
  return !printer_ || printer_->ReportContext(context);
}

void Reporter::ReportRuns(const std::vector<Run>& runs) {
  if (printer_) printer_->ReportRuns(runs);
  std::string name;
  std::string counters;
  std::vector<double> times_ns;
  for (const Run& run : runs) {
    if (run.error_occurred) {
      failed_ = true;
      if (!printer_) print(text(plain_name(run.benchmark_name()), ": ", run.error_message, "\n"));
      return;
    }
    if (run.run_type != Run::RT_Iteration) continue;
    const double time = counts_real_time(run.benchmark_name()) ? run.GetAdjustedRealTime() : run.GetAdjustedCPUTime();
    name = plain_name(run.benchmark_name());
    times_ns.push_back(time / benchmark::GetTimeUnitMultiplier(run.time_unit) * 1e9);
    counters.clear();
    for (const auto& [counter, value] : run.counters) {
      char line[64];
      std::snprintf(line, sizeof(line), "  %s=%.4g", counter.c_str(), value.value);
      counters += line;
    }
  }
  if (times_ns.empty()) return;
  char line[96];
  std::snprintf(line, sizeof(line), "  %10s  +- %4.1f %%  %zu x", duration_text(median_of(times_ns)).c_str(),
                spread_of(times_ns) * 50, times_ns.size());
  lines_[runs.front().family_index] =
      text(name, std::string(name.size() < name_width_ ? name_width_ - name.size() : 0, ' '), line, counters, "\n");
  samples_[name] = std::move(times_ns);
}

void Reporter::Finalize() {
  if (printer_) return printer_->Finalize();
  for (const auto& [index, line] : lines_) print(line);
}

}  // namespace baton::tools
