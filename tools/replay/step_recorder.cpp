#include "tools/replay/step_recorder.hpp"

#include "hal/host_copy.hpp"

namespace baton::tools {

Result<std::shared_ptr<StepRecorder>> StepRecorder::create(const std::string& folder, const ProgramRun& run) {
  BATON_TRY(keep_run(folder, run));
  BATON_TRY_ASSIGN(OutputFile steps, OutputFile::create(folder + "/steps.jsonl"));
  BATON_TRY_ASSIGN(OutputFile snapshots, OutputFile::create(folder + "/snapshots.bin"));
  return std::shared_ptr<StepRecorder>(new StepRecorder(std::move(steps), std::move(snapshots)));
}

Status StepRecorder::stepped(hal::Device& device, const hal::Step& step, Status status) {
  BATON_TRY(std::move(status));
  return keep(device, step);
}

Status StepRecorder::keep(hal::Device& device, const hal::Step& step) {
  KeptStep kept{step.number, step.verb, step.name, step.recording, step.custom, {}};
  std::vector<std::byte> bytes;
  for (const hal::BufferRange& write : step.writes) {
    bytes.resize(hal::range_length(write));
    BATON_TRY(hal::copy_to_host(device, write, bytes));
    BATON_TRY(snapshots_.write(bytes));
    kept.writes.push_back({end_, bytes.size()});
    end_ += bytes.size();
  }
  const std::string line = kept.json();
  return steps_.write(bytes_of(line));
}

Status StepRecorder::finish() {
  BATON_TRY(snapshots_.finish());
  return steps_.finish();
}

}  // namespace baton::tools
