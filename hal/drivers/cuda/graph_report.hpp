// GraphReport: what a graph cost so far, and whether it was worth it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace baton::hal::drivers::cuda {

// Times in ns; they are taken when the device was opened with cuda_graph_report=1.
struct GraphReport {
  uint64_t nodes = 0;
  uint64_t builds = 0;
  uint64_t executions = 0;  // As a graph.
  uint64_t patched_records = 0;
  int64_t memory_bytes = 0;  // That the device had less of after the graph was made.
  int64_t build_ns = 0;      // Adding nodes, captures of foreign work included.
  int64_t instantiate_ns = 0;
  int64_t upload_ns = 0;
  int64_t patch_ns = 0;
  int64_t launch_ns = 0;
  int64_t stream_ns = 0;  // Issuing it once on a stream; 0: that was never done.
};

// After how many executions the graph has cost the host less than a stream would have; 0: never, or not known.
uint64_t pays_after(const GraphReport& report);

// graph "prefill": 1000 nodes, 1 build, 0.5 MiB; build 900.0 us, ...
std::string report_text(std::string_view name, const GraphReport& report);

}  // namespace baton::hal::drivers::cuda
