// baton-replay: runs again what baton-run-module --record= kept, and says which command differs.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tools/flags/command_line.hpp"
#include "tools/replay/step_comparer.hpp"
#include "tools/run/program_run.hpp"
#include "tools/support/rank_output.hpp"
#include "tools/support/report.hpp"

namespace baton::tools {
namespace {

struct Options {
  std::string folder;
  DeviceFlags devices;
  Rounding rounding = {.tolerance = -1};  // Negative: by the device.
};

// What rounding may differ by between devices; on the same one bytes are equal.
constexpr double kToleranceBetweenDevices = 1e-4;

constexpr flags::CommandLine::Program kProgram = {
    "baton-replay", "Runs a recording again and compares what each command writes with what it wrote then.",
    "  baton-run-module mul.bvm --device=local-sync --input=4xf32=1 --input=4xf32=2 --record=mul.recording\n"
    "  baton-replay mul.recording\n"
    "  baton-replay mul.recording --device=cuda\n"
    "  baton-replay mul.recording --device=cuda --tolerance=0.001\n"
    "  mpirun -n 2 baton-replay sum{rank}.recording\n"};

std::optional<int> parse(int argc, char** argv, Options& options) {
  flags::CommandLine line(kProgram);
  line.positional("recording", options.folder, "The folder that --record= made");
  line.choice("--floats", options.rounding.floats, {"f16", "bf16", "f32", "f64"},
              "Which floats the tolerance is for, for buffers say no type (f32)");
  line.real(
      "--tolerance", options.rounding.tolerance,
      "How far floats may be off, as a share of the greatest of their range (0.0001 between devices, 0 on the same)");
  add_device_flags(line, options.devices);
  return line.parse(argc, argv);
}

// Its kind: "cuda" of "cuda://0?cuda_mode=graph".
std::string driver_of(const std::string& uri) { return uri.substr(0, uri.find_first_of(":?")); }

bool same_devices(const std::vector<std::string>& kept, const std::vector<std::string>& asked) {
  if (kept.size() != asked.size()) return false;
  for (size_t i = 0; i < kept.size(); ++i) {
    // Threads take other shares of the same work: the numbers are the same.
    if (driver_of(kept[i]).substr(0, 5) != driver_of(asked[i]).substr(0, 5)) return false;
  }
  return true;
}

// The devices of the kept run, unless others are given; and what else the flags say, beside what was kept.
DeviceFlags with_flags(const DeviceFlags& kept, const DeviceFlags& asked) {
  DeviceFlags devices = asked;
  if (asked.devices.empty()) devices.devices = kept.devices;
  devices.executables.insert(devices.executables.begin(), kept.executables.begin(), kept.executables.end());
  devices.executable_plugins.insert(devices.executable_plugins.begin(), kept.executable_plugins.begin(),
                                    kept.executable_plugins.end());
  devices.no_native_code |= kept.no_native_code;
  return devices;
}

Status replay(const Options& options, const hal::Ranks& ranks, PhaseTimes& times) {
  if (options.devices.list_drivers || options.devices.list_devices || options.devices.dump_devices) {
    BATON_TRY_ASSIGN(const hal::DriverRegistry drivers, make_driver_registry(options.devices));
    Result<bool> listed = print_device_lists(drivers, options.devices);
    return listed ? Status() : std::move(listed).error();
  }
  if (options.folder.empty()) return failure(StatusCode::kInvalidArgument, "no recording was given");
  BATON_TRY_ASSIGN(ProgramRun run, load_run(options.folder));
  run.ranks = ranks;
  Rounding rounding = options.rounding;
  const std::vector<std::string> kept_devices = run.devices.devices;
  run.devices = with_flags(run.devices, options.devices);
  if (rounding.tolerance < 0 && !same_devices(kept_devices, run.devices.devices)) {
    rounding.tolerance = kToleranceBetweenDevices;
  }
  rounding.tolerance = std::max(rounding.tolerance, 0.0);
  BATON_TRY_ASSIGN(const auto comparer, StepComparer::load(options.folder, rounding));
  run.devices.step_listener = comparer;
  Status ran = run_program(run, times);
  run.devices.step_listener = nullptr;
  Status compared = comparer->finish();
  return ran.ok() ? std::move(compared) : std::move(ran);
}

// One of several ranks, each of which kept a run of its own.
Status replay_ranked(Options& options, PhaseTimes& times) {
  BATON_TRY_ASSIGN(const hal::Ranks ranks, hal::ranks_of_environment());
  options.folder = with_rank(std::move(options.folder), ranks);
  put_rank(ranks, {&options.devices.devices});
  options.devices.trace = with_rank(std::move(options.devices.trace), ranks);
  RankOutput output(ranks);
  return output.finish(replay(options, ranks, times));
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Options options;
  if (std::optional<int> code = baton::tools::parse(argc, argv, options)) return *code;
  baton::tools::PhaseTimes times("baton-replay");
  const baton::Status status = baton::tools::replay_ranked(options, times);
  times.begin("");
  return baton::tools::report(status);
}
