// --trace= and --profile: a timeline of the run in a file for Perfetto or Chrome, and a table of what cost most.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/timeline.hpp"

namespace baton::tools {

namespace flags {
class CommandLine;
}

struct TraceFlags {
  std::string path;      // Empty: no file.
  bool profile = false;  // Print the table.

  bool wanted() const { return profile || !path.empty(); }
};

void add_trace_flags(flags::CommandLine& line, TraceFlags& flags);

// What the flags ask for, once the devices have ended.
Status write_trace(const TraceFlags& flags, Timeline& timeline);

// The commands that took most of the devices' and workers' time, ten of them, a line each.
std::string profile_text(const Timeline& timeline);

}  // namespace baton::tools
