#include "tools/run/program_run.hpp"

#include <optional>
#include <span>

#include "base/work_limits.hpp"
#include "hal/stepped_device.hpp"
#include "tools/flags/duration.hpp"
#include "tools/flags/inputs.hpp"
#include "tools/support/allocator.hpp"
#include "tools/support/builtin_modules.hpp"
#include "tools/support/fences.hpp"
#include "tools/support/outputs.hpp"
#include "tools/support/program_source.hpp"
#include "tools/support/report.hpp"
#include "tools/support/results.hpp"
#include "tools/support/tensors.hpp"
#include "tools/support/trace_printer.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"
#include "vm/program.hpp"
#include "vm/timeline_tracer.hpp"

namespace baton::tools {
namespace {

// The functions that were named; when none was, the only export of the last module.
Result<std::vector<std::string>> function_names(const ProgramRun& options, const vm::Module& last) {
  if (!options.functions.empty()) {
    const bool is_one = options.functions.size() == 1;
    if (is_one || (options.inputs.empty() && options.outputs.empty() && options.expected_outputs.empty())) {
      return options.functions;
    }
    return failure(StatusCode::kInvalidArgument,
                   "--input=, --output= and --expected_output= can only be given when one function is called");
  }
  if (last.export_count() == 1) return std::vector{std::string(last.export_at(0).name)};
  return failure(StatusCode::kInvalidArgument, "module '", last.name(), "' exports ", last.export_count(),
                 " functions; choose with --function=", list_exports(last));
}

class Runner {
 public:
  Runner(Ref<vm::Context> context, const ProgramRun& options, std::vector<Ref<hal::Device>> devices, PhaseTimes& times)
      : options_(options),
        times_(times),
        tensors_(std::move(devices), options.output_max_element_count),
        invocation_(context),
        program_(&context->program()) {
    if (options.max_instructions) invocation_.set_instruction_budget(options.max_instructions);
    if (options.devices.timeline) invocation_.set_tracer(&timeline_tracer_.emplace(*options.devices.timeline));
    if (options.trace_execution) invocation_.set_tracer(&trace_printer_);
  }

  void stop_at(int64_t deadline_ns) {
    deadline_ns_ = deadline_ns;
    invocation_.set_deadline(deadline_ns);
  }

  Status call(const vm::ExportedFunction& function) {
    if (!takes_fences(*program_, function)) return call(function, nullptr);
    BATON_TRY_ASSIGN(const CallFences fences, CallFences::make(tensors_.devices()));
    return call(function, &fences);
  }

 private:
  Status call(const vm::ExportedFunction& function, const CallFences* fences) {
    listen(false);
    times_.begin(text("inputs of @", function.name));
    BATON_TRY_ASSIGN(std::vector<vm::Value> arguments, flags::parse_inputs(function.name, function.signature,
                                                                           options_.inputs, &tensors_, fences ? 2 : 0));
    if (fences) arguments.insert(arguments.end(), {fences->wait(), fences->signal()});
    const size_t result_count = size_t{function.shape.result_values} + function.shape.result_refs;
    std::vector<vm::Value> results(result_count);
    BATON_TRY_ASSIGN(const Outputs outputs, Outputs::make(options_.outputs, function.name, function.signature,
                                                          !options_.expected_outputs.empty()));
    print(text("EXEC @", function.name, "\n"));
    times_.begin(text("run @", function.name));
    listen(true);
    Status ran = invocation_.invoke_slots(function, arguments, results);
    listen(false);
    if (timeline_tracer_) timeline_tracer_->finish();
    BATON_TRY(std::move(ran));
    Status handed_out = hand_out(function, results, outputs, fences);
    release_results(function.signature, results);
    return handed_out;
  }

  void listen(bool on) {
    if (options_.devices.step_listener) options_.devices.step_listener->listen(on);
  }

  Status hand_out(const vm::ExportedFunction& function, std::span<const vm::Value> results, const Outputs& outputs,
                  const CallFences* fences) {
    if (fences) BATON_TRY_CONTEXT(fences->await(deadline_ns_), "while waiting for what '", function.name, "' began");
    times_.begin(options_.outputs.empty() && options_.expected_outputs.empty() ? "" : "outputs");
    BATON_TRY(outputs.write(function.signature, results, &tensors_));
    if (options_.expected_outputs.empty()) return {};
    return check_expected(function.name, function.signature, results, options_.expected_outputs, options_.thresholds,
                          tensors_);
  }

  const ProgramRun& options_;
  PhaseTimes& times_;
  TensorValues tensors_;
  TracePrinter trace_printer_;
  std::optional<vm::TimelineTracer> timeline_tracer_;
  vm::Invocation invocation_;
  const vm::Program* program_;  // Of the invocation's context.
  int64_t deadline_ns_ = 0;
};

}  // namespace

// Modules of strangers may be large: proving them ends with the time, too.
static Result<std::vector<Ref<const vm::Module>>> load_within(int64_t timeout_ns,
                                                              const std::vector<std::string>& sources) {
  WorkLimits limits;
  if (timeout_ns) limits.deadline_ns = monotonic_clock_ns() + timeout_ns;
  const WorkLimits::Scope scope(&limits);
  return load_modules(sources);
}

Status run_program(const ProgramRun& options, PhaseTimes& times) {
  int64_t timeout_ns = 0;
  if (!options.timeout.empty()) {
    BATON_TRY_ASSIGN(timeout_ns, flags::parse_duration_ns(options.timeout));
  }

  times.begin("open devices");
  BATON_TRY_ASSIGN(const hal::DriverRegistry drivers, make_driver_registry(options.devices));
  BATON_TRY_ASSIGN(const bool listed, print_device_lists(drivers, options.devices));
  if (listed) return Status();
  BATON_TRY_ASSIGN(std::vector<Ref<hal::Device>> devices, open_devices(drivers, options.devices));
  if (options.print_statistics) times.time_devices(devices);

  times.begin("load");
  BATON_TRY_ASSIGN(std::vector<Ref<const vm::Module>> modules, load_within(timeout_ns, options.modules));
  BATON_TRY_ASSIGN(const std::vector<std::string> names, function_names(options, *modules.back()));
  BATON_TRY_ASSIGN(const std::vector<Ref<const vm::Module>> builtin,
                   builtin_modules(modules, devices, options.parameters, options.ranks));
  modules.insert(modules.begin(), builtin.begin(), builtin.end());

  times.begin("link");
  BATON_TRY_ASSIGN(Ref<vm::Program> program, vm::Program::link(modules));
  if (options.work) {
    options.work->add(*program);
    for (const Ref<hal::Device>& device : devices) options.work->add(*device);
  }
  std::vector<vm::ExportedFunction> functions;
  for (const std::string& name : names) {
    BATON_TRY_ASSIGN(vm::ExportedFunction function, program->find_function(name));
    functions.push_back(function);
  }

  times.begin("make state");  // Runs initializers: the limits hold from here on.
  const int64_t deadline_ns = timeout_ns ? vm::monotonic_clock_ns() + timeout_ns : 0;
  std::optional<vm::TimelineTracer> tracer;
  if (options.devices.timeline) tracer.emplace(*options.devices.timeline);
  BATON_TRY_ASSIGN(Ref<vm::Context> context, vm::Context::make(std::move(program), tool_allocator(),
                                                               {.instructions = options.max_instructions,
                                                                .deadline_ns = deadline_ns,
                                                                .tracer = tracer ? &*tracer : nullptr}));
  tracer.reset();

  Runner runner(std::move(context), options, devices, times);
  runner.stop_at(deadline_ns);
  Status outcome;
  for (size_t i = 0; outcome.ok() && i < functions.size(); ++i) outcome = runner.call(functions[i]);
  times.begin("");
  times.note_devices(devices);
  return outcome;
}

}  // namespace baton::tools
