// A run that is kept in a folder: run.json says what was run, modules/ and inputs/ hold copies of its files, steps.jsonl a
// line for each command that ran, snapshots.bin what each wrote.
//
// Every later version reads what an earlier one kept: members are only added.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "hal/stepped_device.hpp"
#include "tools/run/program_run.hpp"

namespace baton::tools {

inline constexpr int kKeptRunVersion = 1;

// A line of steps.jsonl.
struct KeptStep {
  struct Snapshot {
    uint64_t at = 0;  // In snapshots.bin.
    uint64_t bytes = 0;
  };
  uint64_t number = 0;
  std::string verb;
  std::string name;
  std::string recording;
  std::string custom;
  std::vector<Snapshot> writes;

  std::string json() const;  // With its line end.
  static Result<KeptStep> parse(const std::string& line);
};

// Copies what `run` names into the folder, which is made, and writes run.json.
Status keep_run(const std::string& folder, const ProgramRun& run);
// Loads a kept run; its files are those in the folder.
Result<ProgramRun> load_run(const std::string& folder);
Result<std::vector<KeptStep>> load_steps(const std::string& folder);

}  // namespace baton::tools
