// baton-benchmark-module: what a program costs, phase by phase, on Google Benchmark.

#include <algorithm>

#include "hal/drivers/local/dispatch_times.hpp"
#include "tools/benchmark/import_times.hpp"
#include "tools/benchmark/phases.hpp"
#include "tools/benchmark/session.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/flags/inputs.hpp"
#include "tools/support/allocator.hpp"
#include "tools/support/builtin_modules.hpp"
#include "tools/support/devices.hpp"
#include "tools/support/fences.hpp"
#include "tools/support/program_source.hpp"
#include "tools/support/rank_output.hpp"
#include "tools/support/report.hpp"
#include "tools/support/tensors.hpp"

namespace baton::tools {
namespace {

constexpr uint64_t kTracedCalls = 16;
constexpr uint64_t kCountMost = 1'000'000'000;  // Beyond it a run never ends, or a count is one less than none.

struct Options {
  std::vector<std::string> modules;
  std::vector<std::string> more_modules;
  std::vector<std::string> functions;
  std::vector<std::string> inputs;
  DeviceFlags devices;
  std::vector<std::string> parameters;
  uint64_t batch_size = 1;
  uint64_t batch_concurrency = 1;
  uint64_t iterations = 0;
  hal::Ranks ranks = {};
  bool time_imports = false;
  bool time_dispatches = false;
  std::string compare;
  std::string fail_on = "never";
};

constexpr flags::CommandLine::Program kProgram = {
    "baton-benchmark-module",
    "Measures a program: loading, linking, its functions' first and steady calls. Flags that begin with --benchmark_ "
    "go to\n"
    "Google Benchmark: --benchmark_filter=, --benchmark_repetitions= (7), --benchmark_min_time= (0.05),\n"
    "--benchmark_format=, --benchmark_out=.",
    "  baton-benchmark-module add.bvm --function=add --input=2 --input=3\n"
    "  baton-benchmark-module mul.bvm --device=local-task --input=1024xf32=2 --batch_size=8 --time_imports\n"
    "  baton-benchmark-module add.bvm --benchmark_out=old.json\n"
    "  baton-benchmark-module add.bvm --compare=old.json\n"
    "  mpirun -n 2 baton-benchmark-module sum.bvm --device=cuda://{rank} --function=sum --input=@part{rank}.npy\n"};

std::optional<int> parse(std::vector<char*> arguments, Options& options) {
  flags::CommandLine line(kProgram);
  line.texts("--module,-m", options.modules, "A .bvm file, - or plugin.so@entry?key=value; again for more");
  line.positionals("modules", options.more_modules, "The same, after all --module=");
  line.texts("--function,-f", options.functions, "What to call; again for more. Else all that the inputs fit");
  line.texts("--input,-i", options.inputs, "One argument, as baton-run-module takes it; again for each");
  line.number("--batch_size", options.batch_size, "Calls in one iteration (1)");
  line.number("--batch_concurrency", options.batch_concurrency,
              "Of a batch, how many calls may be in flight: for functions that take fences (1)");
  line.number("--iterations", options.iterations,
              "How many iterations a repetition has (as many as it takes; with several ranks 100, the same on all)");
  line.toggle("--time_imports", options.time_imports, "Afterwards, time each imported function inside each call");
  line.toggle("--time_dispatches", options.time_dispatches,
              "Afterwards, time each kernel inside each call, on devices local-sync and local-task");
  line.text("--compare", options.compare, "What --benchmark_out= wrote before: say what changed");
  line.choice("--fail_on", options.fail_on, Session::fail_on(),
              "With --compare=, exit code 1 when something is slower, or when noise forbids to tell (never)");
  add_device_flags(line, options.devices);
  line.texts("--parameters", options.parameters, "scope=file, or file, as baton-run-module takes it; again for more");
  return line.parse(static_cast<int>(arguments.size()), arguments.data());
}

// The functions named; without names, every export of the last module that the inputs fit.
Result<std::vector<vm::ExportedFunction>> choose_functions(const Options& options, const vm::Module& last,
                                                           const vm::Program& program) {
  std::vector<vm::ExportedFunction> functions;
  for (const std::string& name : options.functions) {
    BATON_TRY_ASSIGN(const vm::ExportedFunction function, program.find_function(name));
    functions.push_back(function);
  }
  if (!functions.empty()) return functions;
  for (uint32_t i = 0; i < last.export_count(); ++i) {
    const std::string name = text(last.name(), ".", last.export_at(i).name);
    BATON_TRY_ASSIGN(const vm::ExportedFunction function, program.find_function(name));
    const size_t arguments = size_t{function.shape.argument_values} + function.shape.argument_refs;
    if (arguments == options.inputs.size() + (takes_fences(program, function) ? 2 : 0)) functions.push_back(function);
  }
  if (!functions.empty()) return functions;
  return failure(StatusCode::kInvalidArgument, "no export of '", last.name(), "' takes ", options.inputs.size(),
                 " inputs; it has", list_exports(last));
}

Status prepare(const Options& options, Subject& subject, TensorValues& tensors) {
  std::vector<std::string> sources = options.modules;
  sources.insert(sources.end(), options.more_modules.begin(), options.more_modules.end());
  BATON_TRY_ASSIGN(subject.modules, load_modules(sources));
  const Ref<const vm::Module> last = subject.modules.back();
  BATON_TRY_ASSIGN(const auto builtin,
                   builtin_modules(subject.modules, subject.devices, options.parameters, options.ranks));
  subject.modules.insert(subject.modules.begin(), builtin.begin(), builtin.end());
  BATON_TRY_ASSIGN(subject.program, vm::Program::link(subject.modules));
  BATON_TRY_ASSIGN(subject.context, vm::Context::make(subject.program, tool_allocator()));
  BATON_TRY_ASSIGN(const auto functions, choose_functions(options, *last, *subject.program));
  for (const vm::ExportedFunction& function : functions) {
    const bool fences = takes_fences(*subject.program, function);
    BATON_TRY_ASSIGN(auto arguments,
                     flags::parse_inputs(function.name, function.signature, options.inputs, &tensors, fences ? 2 : 0));
    subject.functions.push_back({function, std::move(arguments), fences});
  }
  return {};
}

Status time_imports(const Subject& subject) {
  for (const BenchmarkedFunction& function : subject.functions) {
    ImportTimes times;
    vm::Invocation invocation(subject.context);
    Caller caller(invocation, subject, function);
    BATON_TRY(caller.call(2));
    invocation.set_tracer(&times);
    BATON_TRY(caller.call(kTracedCalls));
    times.end();
    print(text("Imports in a call of '", function.function.name, "', with the tracer's share:\n",
               times.describe(kTracedCalls)));
  }
  return {};
}

std::string describe_dispatches(const hal::drivers::local::DispatchTimes::Rows& rows) {
  std::vector<Share> shares;
  for (const auto& [names, row] : rows)
    shares.push_back({names.second, row.dispatches, static_cast<int64_t>(row.busy_ns)});
  if (!shares.empty()) return describe_shares(std::move(shares), kTracedCalls, "dispatches");
  return "  none that a device of the local driver ran\n";
}

// On devices of their own, so that what was measured before has no clock in it.
Status time_dispatches(const Options& options) {
  DeviceFlags flags = options.devices;
  flags.dispatch_times = std::make_shared<hal::drivers::local::DispatchTimes>();
  BATON_TRY_ASSIGN(const hal::DriverRegistry drivers, make_driver_registry(flags));
  Subject subject;
  BATON_TRY_ASSIGN(subject.devices, open_devices(drivers, flags));
  TensorValues tensors(subject.devices);
  BATON_TRY(prepare(options, subject, tensors));
  for (const BenchmarkedFunction& function : subject.functions) {
    vm::Invocation invocation(subject.context);
    Caller caller(invocation, subject, function);
    BATON_TRY(caller.call(2));
    flags.dispatch_times->take();
    BATON_TRY(caller.call(kTracedCalls));
    print(text("Dispatches in a call of '", function.function.name, "', the time of all workers added up:\n",
               describe_dispatches(flags.dispatch_times->take())));
  }
  return {};
}

Status run(const Options& options, Session& session) {
  if (options.batch_size == 0 || options.batch_concurrency == 0)
    return failure(StatusCode::kInvalidArgument, "a batch needs at least one call, and one in flight");
  if (std::max({options.batch_size, options.batch_concurrency, options.iterations}) > kCountMost) {
    return failure(StatusCode::kInvalidArgument, "--batch_size=, --batch_concurrency= and --iterations= are up to ",
                   kCountMost);
  }
  Subject subject;
  subject.batch_size = options.batch_size;
  subject.batch_concurrency = options.batch_concurrency;
  subject.iterations = options.iterations;
  subject.is_together = options.ranks.count > 1;
  BATON_TRY_ASSIGN(const hal::DriverRegistry drivers, make_driver_registry(options.devices));
  BATON_TRY_ASSIGN(const bool listed, print_device_lists(drivers, options.devices));
  if (listed) return Status();
  BATON_TRY_ASSIGN(subject.devices, open_devices(drivers, options.devices));
  TensorValues tensors(subject.devices);
  BATON_TRY(prepare(options, subject, tensors));

  session.note("inputs", options.inputs);
  session.note("devices", options.devices.devices);
  session.note("batches", text(options.batch_size, " calls, ", options.batch_concurrency, " in flight"));
  BATON_TRY(session.begin(options.compare, options.fail_on));
  register_preparation(subject);
  for (const BenchmarkedFunction& function : subject.functions) register_function(subject, function);
  BATON_TRY_ASSIGN(const bool for_people, session.run());
  if (for_people && options.time_imports) BATON_TRY(time_imports(subject));
  if (for_people && options.time_dispatches) BATON_TRY(time_dispatches(options));
  return session.outcome();
}

// One of several ranks: they call functions as often as each other, in one order.
Status run_ranked(Options& options, Session& session) {
  constexpr uint64_t kIterationsOfRanks = 100;
  BATON_TRY_ASSIGN(options.ranks, hal::ranks_of_environment());
  put_rank(options.ranks, {&options.modules, &options.more_modules, &options.inputs, &options.parameters,
                           &options.devices.devices, &session.flags()});
  options.compare = with_rank(std::move(options.compare), options.ranks);
  if (options.ranks.count > 1) {
    session.keep_order();
    if (options.iterations == 0) options.iterations = kIterationsOfRanks;
  }
  RankOutput output(options.ranks);
  return output.finish(run(options, session));
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Options options;
  baton::tools::Session session;
  if (std::optional<int> code = baton::tools::parse(session.take_flags(argc, argv), options)) return *code;
  return baton::tools::report(baton::tools::run_ranked(options, session));
}
