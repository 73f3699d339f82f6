// baton-run-module: loads modules, links them, calls functions, prints results.

#include <optional>
#include <string>
#include <vector>

#include "hal/nvtx.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/flags/duration.hpp"
#include "tools/replay/step_recorder.hpp"
#include "tools/run/program_run.hpp"
#include "tools/support/rank_output.hpp"
#include "tools/support/report.hpp"
#include "tools/support/trace_file.hpp"

namespace baton::tools {
namespace {

struct Options {
  ProgramRun run;
  std::vector<std::string> more_modules;  // given without --module=
  TraceFlags trace;
  std::string record;              // Empty: nothing is kept.
  std::string collective_timeout;  // Empty: as the environment says.
};

constexpr flags::CommandLine::Program kProgram = {
    "baton-run-module", "Loads modules, links them in the order given, calls a function and prints its results.",
    "  baton-run-module add.bvm --function=add --input=2 --input=i32=3\n"
    "  baton-as add.bvmasm | baton-run-module - --function=add --input=2 --input=3\n"
    "  baton-run-module --module=./custom.so?greeting=hello --module=main.bvm --function=main\n"
    "  baton-run-module mul.bvm --device=local-task --function=mul --input=4xf32=1,2,3,4 --input=4xf32=@factors.bin\n"
    "  baton-run-module mul.bvm --device=null --device_trace=- --input=@a.npy --input=@all.npz:b\n"
    "  baton-run-module mul.bvm --device=local-task --input='*ab.npy' --output=@product.npy\n"
    "  baton-run-module mul.bvm --device=local-task --input='*ab.npy' --expected_output=@product.npy\n"
    "  mpirun -n 2 baton-run-module sum.bvm --device=local-task --input=@part{rank}.npy --output=@sum{rank}.npy\n"
    "  baton-run-module loop.bvm --timeout=500ms --max_instructions=1000000\n"};

std::optional<int> parse(int argc, char** argv, Options& options) {
  flags::CommandLine line(kProgram);
  line.texts(
      "--module,-m", options.run.modules,
      "A .bvm file, - for standard input, or plugin.so@entry?key=value; again for more; importers after imported");
  line.positionals("modules", options.more_modules, "The same, after all --module=");
  line.texts("--function,-f", options.run.functions,
             "function or module.function; again to call several in order. May be left out when there is one");
  line.texts(
      "--input,-i", options.run.inputs,
      "One argument: 5, i32=5, f32=1.5, null, 2x2xf32=1 2 3 4, 4xf32=7, 4xi8=@raw.bin, @a.npy, +a.npy for its next "
      "array, *a.npy for all, @a.npz:name, !i32=1;4xf32=2 for a list; again for each");
  line.texts("--output,-o", options.run.outputs,
             "What becomes of one result: @file.npy, .txt or .bin, +file to append, - to print, nothing to drop; again "
             "for each");
  line.texts(
      "--expected_output", options.run.expected_outputs,
      "What one result shall be, written as --input= is, or (ignored); again for each. Exit code 1 when it is not");
  line.real("--expected_f16_threshold", options.run.thresholds.f16, "How far f16 and bf16 may be off (0.001)");
  line.real("--expected_f32_threshold", options.run.thresholds.f32, "How far f32 may be off (0.0001)");
  line.real("--expected_f64_threshold", options.run.thresholds.f64, "How far f64 may be off (0.0001)");
  line.real("--expected_relative_threshold", options.run.thresholds.relative,
            "How far floats may be off besides, as a share of what is expected (0)");
  line.number("--output_max_element_count", options.run.output_max_element_count,
              "How many elements of a tensor are printed; beyond them ...");
  add_device_flags(line, options.run.devices);
  line.texts("--parameters", options.run.parameters,
             "scope=file, or file: constants for module 'parameters', .safetensors or raw; again for more");
  add_trace_flags(line, options.trace);
  line.text(
      "--record", options.record,
      "A folder that keeps modules, inputs, and what each command wrote, for baton-replay; one command at a time");
  line.toggle("--trace_execution", options.run.trace_execution, "Print every executed instruction on standard error");
  line.number("--max_instructions", options.run.max_instructions, "Stop after so many instructions");
  line.text("--timeout", options.run.timeout, "Stop after so long: 500ms, 2s");
  line.text("--collective_timeout", options.collective_timeout,
            "How long a rank waits for the others in a collective: 500ms, 2s (BATON_RANK_TIMEOUT, or 300s)");
  line.toggle("--print_statistics", options.run.print_statistics, "Print how long each phase took on standard error");
  const std::optional<int> code = line.parse(argc, argv);
  options.run.modules.insert(options.run.modules.end(), options.more_modules.begin(), options.more_modules.end());
  return code;
}

// The devices' part is over when this returns: spans that come late are there.
Status run(const Options& options, ProgramRun& program, PhaseTimes& times) {
  if (options.record.empty()) return run_program(program, times);
  BATON_TRY_ASSIGN(const auto recorder, StepRecorder::create(options.record, program));
  program.devices.step_listener = recorder;
  Status ran = run_program(program, times);
  program.devices.step_listener = nullptr;
  BATON_TRY(recorder->finish());
  return ran;
}

// One of several ranks: each reads and writes files of its own, and they print one after the other.
Status run_ranked(Options& options, PhaseTimes& times) {
  ProgramRun& program = options.run;
  BATON_TRY_ASSIGN(program.ranks, hal::ranks_of_environment());
  if (!options.collective_timeout.empty()) {
    BATON_TRY_ASSIGN(program.ranks.timeout_ns, flags::parse_duration_ns(options.collective_timeout));
  }
  put_rank(program.ranks, {&program.modules, &program.inputs, &program.outputs, &program.expected_outputs,
                           &program.parameters, &program.devices.devices});
  for (std::string* text : {&program.devices.trace, &options.trace.path, &options.record}) {
    *text = with_rank(std::move(*text), program.ranks);
  }
  RankOutput output(program.ranks);
  return output.finish(run(options, program, times));
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Options options;
  if (std::optional<int> code = baton::tools::parse(argc, argv, options)) return *code;
  baton::tools::PhaseTimes times("baton-run-module");
  baton::Timeline timeline(options.trace.keeps_spans() ? baton::Timeline::kSpansMax : 0);
  baton::tools::WorkTable work;
  if (options.trace.wanted()) options.run.devices.timeline = &timeline;
  options.run.devices.listens_to_drivers = options.trace.keeps_spans();  // A profiler of NVIDIA's has CUPTI for itself.
  if (options.trace.nvtx) {
    auto ranges = baton::hal::nvtx_ranges();
    if (!ranges) return baton::tools::report(ranges.error());
    timeline.mirror(*ranges);
  }
  if (options.trace.profile) options.run.work = &work;
  baton::Status status = baton::tools::run_ranked(options, times);
  if (options.trace.keeps_spans()) {
    baton::Status written = baton::tools::write_trace(options.trace, timeline, work);
    if (status.ok()) status = std::move(written);
  }
  times.begin("");
  const int code = baton::tools::report(status);
  if (options.run.print_statistics) times.print();
  return code;
}
