// --trace= and --profile: a timeline of the run in a file for Perfetto or Chrome, and a table of what cost most.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/timeline.hpp"
#include "tools/support/work_table.hpp"

namespace baton::tools {

namespace flags {
class CommandLine;
}

struct TraceFlags {
  std::string path;      // Empty: no file.
  bool profile = false;  // Print the table.
  bool nvtx = false;     // Tell NVIDIA's profilers.

  bool keeps_spans() const { return profile || !path.empty(); }
  bool wanted() const { return keeps_spans() || nvtx; }
};

void add_trace_flags(flags::CommandLine& line, TraceFlags& flags);

// What the flags ask for, once the devices have ended.
Status write_trace(const TraceFlags& flags, Timeline& timeline, const WorkTable& work);

// The ten commands that took longest, a line each. A command takes the time while at least one worker is at it; its rates are
// what its runs move and compute in that time, beside the share that this is of the device's peak, where a device says one.
std::string profile_text(const Timeline& timeline, const WorkTable& work);

}  // namespace baton::tools
