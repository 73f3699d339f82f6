#include "hal/drivers/cuda/graph_report.hpp"

#include "base/text.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// "12.3": tenths are as fine as these times are.
std::string us(int64_t ns) { return text((ns + 50) / 1000, ".", (ns + 50) / 100 % 10, " us"); }

int64_t each(int64_t ns, uint64_t count) { return count ? ns / static_cast<int64_t>(count) : 0; }

}  // namespace

uint64_t pays_after(const GraphReport& report) {
  const int64_t saved = report.stream_ns - each(report.patch_ns + report.launch_ns, report.executions);
  if (report.stream_ns == 0 || saved <= 0) return 0;
  const int64_t cost = report.build_ns + report.instantiate_ns + report.upload_ns;
  return static_cast<uint64_t>((cost + saved - 1) / saved);
}

std::string report_text(std::string_view name, const GraphReport& report) {
  std::string line =
      text("graph \"", name, "\": ", report.nodes, " nodes, ", report.builds, " builds, ", report.memory_bytes / 1024,
           " KiB; build ", us(report.build_ns), ", instantiate ", us(report.instantiate_ns), ", upload ",
           us(report.upload_ns), "; ", report.executions, " executions: patch ",
           us(each(report.patch_ns, report.executions)), " (", report.patched_records, " records in all), launch ",
           us(each(report.launch_ns, report.executions)));
  if (report.stream_ns == 0) return line;
  line += text("; on a stream ", us(report.stream_ns), ": ");
  const uint64_t executions = pays_after(report);
  return executions ? line + text("pays after ", executions, " executions") : line + "never pays";
}

}  // namespace baton::hal::drivers::cuda
