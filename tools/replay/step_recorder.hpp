// StepRecorder: keeps a run in a folder (kept_run.hpp): what was run, and each command with what it wrote.
// Threads: as StepListener.
#pragma once

#include <memory>
#include <string>

#include "tools/replay/kept_run.hpp"
#include "tools/support/files.hpp"

namespace baton::tools {

class StepRecorder final : public hal::StepListener {
 public:
  static Result<std::shared_ptr<StepRecorder>> create(const std::string& folder, const ProgramRun& run);

  Status stepped(hal::Device& device, const hal::Step& step, Status status) override;
  // What is not finished is not there.
  Status finish();

 private:
  StepRecorder(OutputFile steps, OutputFile snapshots) : steps_(std::move(steps)), snapshots_(std::move(snapshots)) {}
  Status keep(hal::Device& device, const hal::Step& step);

  OutputFile steps_;
  OutputFile snapshots_;
  uint64_t end_ = 0;  // Of snapshots_.
};

}  // namespace baton::tools
