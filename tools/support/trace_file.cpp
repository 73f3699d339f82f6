#include "tools/support/trace_file.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "base/text.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/support/files.hpp"

namespace baton::tools {
namespace {

constexpr size_t kRows = 10;

// All runs of one command. Those of one recording at one place in the program count together.
struct Row {
  const Timeline::Label* label = nullptr;
  uint64_t runs = 0;
  int64_t total_ns = 0;
};

std::string_view fact(const Timeline::Label& label, std::string_view key) {
  for (const auto& [name, value] : label.facts) {
    if (name == key) return value;
  }
  return {};
}

std::vector<Row> rows_of(const Timeline& timeline) {
  std::map<std::string, Row> by_place;
  timeline.for_each([&](std::string_view, const Timeline::Span& span) {
    if (span.label->category != "command" && span.label->category != "device") return;
    Row& row = by_place[text(span.label->name, '\n', fact(*span.label, "command"), '\n', fact(*span.label, "line"),
                             '\n', fact(*span.label, "recording"))];
    row.label = span.label;
    ++row.runs;
    row.total_ns += span.duration_ns;
  });
  std::vector<Row> rows;
  for (const auto& [place, row] : by_place) rows.push_back(row);
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.label->name < b.label->name;
  });
  return rows;
}

std::string line_of(const Row& row, int64_t sum_ns) {
  const double share = sum_ns ? 100.0 * static_cast<double>(row.total_ns) / static_cast<double>(sum_ns) : 0;
  const uint64_t bytes = row.label->bytes;
  // Bytes a nanosecond are GB/s; what is bound may be more than what is touched.
  const double rate = row.total_ns ? static_cast<double>(bytes * row.runs) / static_cast<double>(row.total_ns) : 0;
  char rate_text[32] = "-";
  if (bytes) std::snprintf(rate_text, sizeof(rate_text), "%.3g", rate);
  const std::string_view module = fact(*row.label, "module"), place = fact(*row.label, "line");
  char line[512];
  std::snprintf(line, sizeof(line), "%5.1f%% %12.3f %8llu %10.3f %8s  %s%s%.*s%s%.*s\n", share,
                static_cast<double>(row.total_ns) / 1e3, static_cast<unsigned long long>(row.runs),
                static_cast<double>(row.total_ns) / 1e3 / static_cast<double>(row.runs), rate_text,
                row.label->name.c_str(), module.empty() ? "" : " of ", static_cast<int>(module.size()), module.data(),
                place.empty() ? "" : " at ", static_cast<int>(place.size()), place.data());
  return line;
}

}  // namespace

void add_trace_flags(flags::CommandLine& line, TraceFlags& flags) {
  line.text("--trace", flags.path,
            "A file for Perfetto or chrome://tracing: calls, recordings, queues, and each command when it ran");
  line.toggle("--profile", flags.profile, "Print the ten commands that cost most, on standard error");
}

Status write_trace(const TraceFlags& flags, Timeline& timeline) {
  timeline.flush();
  if (flags.profile) {
    const std::string table = profile_text(timeline);
    std::fwrite(table.data(), 1, table.size(), stderr);
  }
  if (flags.path.empty()) return {};
  return write_file(flags.path, bytes_of(timeline.json()));
}

std::string profile_text(const Timeline& timeline) {
  const std::vector<Row> rows = rows_of(timeline);
  int64_t sum_ns = 0;
  for (const Row& row : rows) sum_ns += row.total_ns;
  std::string table = rows.empty() ? "no command ran where its time could be taken\n"
                                   : " share     total us     runs    us each  GB/s <=  command\n";
  for (size_t i = 0; i < std::min(rows.size(), kRows); ++i) table += line_of(rows[i], sum_ns);
  for (const std::string& note : timeline.notes()) table += text("note: ", note, "\n");
  return table;
}

}  // namespace baton::tools
