// A program as a tool runs it: modules are loaded and linked, a state is made, functions are called, and their results
// printed, written or compared. What baton-run-module does, and baton-replay does again.
#pragma once

#include <string>
#include <vector>

#include "hal/ranks.hpp"
#include "tools/support/devices.hpp"
#include "tools/support/expected.hpp"
#include "tools/support/phase_times.hpp"
#include "tools/support/tensor_text.hpp"
#include "tools/support/work_table.hpp"

namespace baton::tools {

// What the command line says (tools/README.md).
struct ProgramRun {
  std::vector<std::string> modules;
  std::vector<std::string> functions;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> expected_outputs;
  Thresholds thresholds;
  DeviceFlags devices;
  WorkTable* work = nullptr;  // Gets what the program's dispatches do; null: not wanted.
  hal::Ranks ranks;           // Whom it meets in channels.
  std::vector<std::string> parameters;
  uint64_t output_max_element_count = kPrintedElements;
  bool trace_execution = false;
  bool print_statistics = false;
  uint64_t max_instructions = 0;
  std::string timeout;
};

Status run_program(const ProgramRun& run, PhaseTimes& times);

}  // namespace baton::tools
