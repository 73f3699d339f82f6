#include "tools/support/trace_file.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <vector>

#include "base/text.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/support/files.hpp"

namespace baton::tools {
namespace {

constexpr size_t kRows = 10;

// All runs of one command on a device. Those of one recording at one place in the program count together.
struct Row {
  const Timeline::Label* label = nullptr;
  std::vector<std::pair<int64_t, int64_t>> parts;  // When each span began and ended.
  uint64_t runs = 0;
  int64_t busy_ns = 0;    // While at least one worker was at it.
  double part_flops = 0;  // Of all parts, as if each were a run; less than 0: not known.

  double flops() const { return part_flops / static_cast<double>(parts.size()) * static_cast<double>(runs); }
};

std::string_view fact(const Timeline::Label& label, std::string_view key) {
  for (const auto& [name, value] : label.facts) {
    if (name == key) return value;
  }
  return {};
}

double flops_of(const Timeline::Label& label, const WorkTable& work) {
  return work.flops(fact(label, "executable"), label.name, fact(label, "constants")).value_or(-1);
}

int64_t length_of_union(std::vector<std::pair<int64_t, int64_t>>& parts) {
  std::sort(parts.begin(), parts.end());
  int64_t sum = 0, reached = std::numeric_limits<int64_t>::min();
  for (const auto& [begin, end] : parts) {
    sum += std::max<int64_t>(0, end - std::max(begin, reached));
    reached = std::max(reached, end);
  }
  return sum;
}

// "execute "step.0"" on a device: where the queue was asked for it (hal/timeline_observer.cpp).
std::string execution_key(const Timeline::Label& label, std::string_view name) {
  return text(fact(label, "device"), '\n', name);
}

std::vector<Row> rows_of(const Timeline& timeline, const WorkTable& work) {
  std::map<const Timeline::Label*, double> flops_by_label;
  std::map<std::string, Row> by_place;
  std::map<std::string, uint64_t> executions;
  timeline.for_each([&](std::string_view, const Timeline::Span& span) {
    const Timeline::Label& label = *span.label;
    if (label.category == "queue") ++executions[execution_key(label, label.name)];
    if (label.category != "command" && label.category != "device") return;
    Row& row = by_place[text(label.name, '\n', fact(label, "command"), '\n', fact(label, "line"), '\n',
                             fact(label, "recording"), '\n', fact(label, "device"))];
    row.label = &label;
    row.parts.emplace_back(span.begin_ns, span.begin_ns + span.duration_ns);
    const auto [known, is_new] = flops_by_label.try_emplace(&label);
    if (is_new) known->second = flops_of(label, work);
    row.part_flops = known->second < 0 || row.part_flops < 0 ? -1 : row.part_flops + known->second;
  });
  std::vector<Row> rows;
  for (auto& [place, row] : by_place) {
    row.busy_ns = length_of_union(row.parts);
    // Workers share a dispatch, a span each: it ran as often as its recording did.
    const auto found =
        executions.find(execution_key(*row.label, text("execute \"", fact(*row.label, "recording"), "\"")));
    row.runs = found == executions.end() ? row.parts.size() : std::min<uint64_t>(row.parts.size(), found->second);
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.busy_ns != b.busy_ns ? a.busy_ns > b.busy_ns : a.label->name < b.label->name;
  });
  return rows;
}

// So much a nanosecond is so many billions a second.
std::string rate_text(double amount, int64_t ns) {
  if (amount <= 0 || ns == 0) return "-";
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.3g", amount / static_cast<double>(ns));
  return digits;
}

std::string padded(std::string text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

// What a row reaches of what its device could do.
std::string share_text(double amount, int64_t ns, double peak_billions) {
  if (amount <= 0 || ns == 0 || peak_billions <= 0) return "-";
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.0f%%", 100 * amount / static_cast<double>(ns) / peak_billions);
  return digits;
}

// `peaks`: whether the table has columns for shares of the device's peak.
std::string line_of(const Row& row, int64_t sum_ns, const WorkTable* peaks) {
  const double share = sum_ns ? 100.0 * static_cast<double>(row.busy_ns) / static_cast<double>(sum_ns) : 0;
  // What is bound may be more than what is touched.
  const double bytes = static_cast<double>(row.label->bytes) * static_cast<double>(row.runs);
  const double us = static_cast<double>(row.busy_ns) / 1e3;
  const std::string_view module = fact(*row.label, "module"), place = fact(*row.label, "line");
  const WorkTable::Peak peak = peaks ? peaks->peak(fact(*row.label, "device")) : WorkTable::Peak();
  const auto share_of = [&](double amount, double most) {
    return peaks ? text(' ', padded(share_text(amount, row.busy_ns, most), 7)) : "";
  };
  char line[512];
  std::snprintf(line, sizeof(line), "%5.1f%% %12.3f %8llu %10.3f %8s%s %8s%s  %s%s%.*s%s%.*s\n", share, us,
                static_cast<unsigned long long>(row.runs), us / static_cast<double>(row.runs),
                rate_text(bytes, row.busy_ns).c_str(), share_of(bytes, peak.gigabytes).c_str(),
                rate_text(row.flops(), row.busy_ns).c_str(), share_of(row.flops(), peak.gigaflops).c_str(),
                row.label->name.c_str(), module.empty() ? "" : " of ", static_cast<int>(module.size()), module.data(),
                place.empty() ? "" : " at ", static_cast<int>(place.size()), place.data());
  return line;
}

std::string notes_of(const Timeline& timeline) {
  std::string lines;
  for (const std::string& note : timeline.notes()) lines += text("note: ", note, "\n");
  return lines;
}

}  // namespace

void add_trace_flags(flags::CommandLine& line, TraceFlags& flags) {
  line.text("--trace", flags.path,
            "A file for Perfetto or chrome://tracing: calls, recordings, queues, and each command when it ran");
  line.toggle("--profile", flags.profile, "Print the ten commands that cost most, on standard error");
  line.toggle("--nvtx", flags.nvtx,
              "Calls, imports and operations of queues as ranges of NVTX, for Nsight Systems and Nsight Compute");
}

Status write_trace(const TraceFlags& flags, Timeline& timeline, const WorkTable& work) {
  timeline.flush();
  if (flags.profile) {
    const std::string table = profile_text(timeline, work);
    std::fwrite(table.data(), 1, table.size(), stderr);
  }
  if (flags.path.empty()) return {};
  return write_file(flags.path, bytes_of(timeline.json()));
}

std::string profile_text(const Timeline& timeline, const WorkTable& work) {
  const std::vector<Row> rows = rows_of(timeline, work);
  int64_t sum_ns = 0;
  for (const Row& row : rows) sum_ns += row.busy_ns;
  if (rows.empty()) return text("no command ran where its time could be taken\n", notes_of(timeline));
  const bool has_peaks = std::any_of(
      rows.begin(), rows.end(), [&](const Row& row) { return work.peak(fact(*row.label, "device")).gigabytes > 0; });
  std::string table = has_peaks ? " share     total us     runs    us each  GB/s <= of peak  GFLOP/s  of f32  command\n"
                                : " share     total us     runs    us each  GB/s <=  GFLOP/s  command\n";
  for (size_t i = 0; i < std::min(rows.size(), kRows); ++i) {
    table += line_of(rows[i], sum_ns, has_peaks ? &work : nullptr);
  }
  return table + notes_of(timeline);
}

}  // namespace baton::tools
