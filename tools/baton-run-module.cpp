// baton-run-module: loads modules, links them, calls functions, prints results.

#include "tools/flags/command_line.hpp"
#include "tools/flags/duration.hpp"
#include "tools/flags/inputs.hpp"
#include "tools/support/allocator.hpp"
#include "tools/support/builtin_modules.hpp"
#include "tools/support/devices.hpp"
#include "tools/support/expected.hpp"
#include "tools/support/fences.hpp"
#include "tools/support/outputs.hpp"
#include "tools/support/phase_times.hpp"
#include "tools/support/program_source.hpp"
#include "tools/support/report.hpp"
#include "tools/support/tensors.hpp"
#include "tools/support/trace_printer.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"
#include "vm/program.hpp"

namespace baton::tools {
namespace {

struct Options {
  std::vector<std::string> modules;
  std::vector<std::string> more_modules;  // given without --module=
  std::vector<std::string> functions;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> expected_outputs;
  Thresholds thresholds;
  DeviceFlags devices;
  std::vector<std::string> parameters;
  uint64_t output_max_element_count = kPrintedElements;
  bool trace_execution = false;
  bool print_statistics = false;
  uint64_t max_instructions = 0;
  std::string timeout;
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
    "  baton-run-module loop.bvm --timeout=500ms --max_instructions=1000000\n"};

std::optional<int> parse(int argc, char** argv, Options& options) {
  flags::CommandLine line(kProgram);
  line.texts(
      "--module,-m", options.modules,
      "A .bvm file, - for standard input, or plugin.so@entry?key=value; again for more; importers after imported");
  line.positionals("modules", options.more_modules, "The same, after all --module=");
  line.texts("--function,-f", options.functions,
             "function or module.function; again to call several in order. May be left out when there is one");
  line.texts(
      "--input,-i", options.inputs,
      "One argument: 5, i32=5, f32=1.5, null, 2x2xf32=1 2 3 4, 4xf32=7, 4xi8=@raw.bin, @a.npy, +a.npy for its next "
      "array, *a.npy for all, @a.npz:name, !i32=1;4xf32=2 for a list; again for each");
  line.texts("--output,-o", options.outputs,
             "What becomes of one result: @file.npy, .txt or .bin, +file to append, - to print, nothing to drop; again "
             "for each");
  line.texts(
      "--expected_output", options.expected_outputs,
      "What one result shall be, written as --input= is, or (ignored); again for each. Exit code 1 when it is not");
  line.real("--expected_f16_threshold", options.thresholds.f16, "How far f16 and bf16 may be off (0.001)");
  line.real("--expected_f32_threshold", options.thresholds.f32, "How far f32 may be off (0.0001)");
  line.real("--expected_f64_threshold", options.thresholds.f64, "How far f64 may be off (0.0001)");
  line.real("--expected_relative_threshold", options.thresholds.relative,
            "How far floats may be off besides, as a share of what is expected (0)");
  line.number("--output_max_element_count", options.output_max_element_count,
              "How many elements of a tensor are printed; beyond them ...");
  add_device_flags(line, options.devices);
  line.texts("--parameters", options.parameters,
             "scope=file, or file: constants for module 'parameters', .safetensors or raw; again for more");
  line.toggle("--trace_execution", options.trace_execution, "Print every executed instruction on standard error");
  line.number("--max_instructions", options.max_instructions, "Stop after so many instructions");
  line.text("--timeout", options.timeout, "Stop after so long: 500ms, 2s");
  line.toggle("--print_statistics", options.print_statistics, "Print how long each phase took on standard error");
  return line.parse(argc, argv);
}

std::vector<std::string> module_sources(const Options& options) {
  std::vector<std::string> sources = options.modules;
  sources.insert(sources.end(), options.more_modules.begin(), options.more_modules.end());
  return sources;
}

// The functions that were named; when none was, the only export of the last module.
Result<std::vector<std::string>> function_names(const Options& options, const vm::Module& last) {
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
  Runner(Ref<vm::Context> context, const Options& options, std::vector<Ref<hal::Device>> devices, PhaseTimes& times)
      : options_(options),
        times_(times),
        tensors_(std::move(devices), options.output_max_element_count),
        invocation_(context),
        program_(&context->program()) {
    if (options.max_instructions) invocation_.set_instruction_budget(options.max_instructions);
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
    BATON_TRY(invocation_.invoke(function, arguments, results));
    Status handed_out = hand_out(function, results, outputs, fences);
    release_results(function.signature, results);
    return handed_out;
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

  const Options& options_;
  PhaseTimes& times_;
  TensorValues tensors_;
  TracePrinter trace_printer_;
  vm::Invocation invocation_;
  const vm::Program* program_;  // Of the invocation's context.
  int64_t deadline_ns_ = 0;
};

Status run(const Options& options, PhaseTimes& times) {
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
  BATON_TRY_ASSIGN(std::vector<Ref<const vm::Module>> modules, load_modules(module_sources(options)));
  BATON_TRY_ASSIGN(const std::vector<std::string> names, function_names(options, *modules.back()));
  BATON_TRY_ASSIGN(const std::vector<Ref<const vm::Module>> builtin,
                   builtin_modules(modules, devices, options.parameters));
  modules.insert(modules.begin(), builtin.begin(), builtin.end());

  times.begin("link");
  BATON_TRY_ASSIGN(Ref<vm::Program> program, vm::Program::link(modules));
  std::vector<vm::ExportedFunction> functions;
  for (const std::string& name : names) {
    BATON_TRY_ASSIGN(vm::ExportedFunction function, program->find_function(name));
    functions.push_back(function);
  }

  times.begin("make state");  // Runs initializers: the limits hold from here on.
  const int64_t deadline_ns = timeout_ns ? vm::monotonic_clock_ns() + timeout_ns : 0;
  BATON_TRY_ASSIGN(Ref<vm::Context> context,
                   vm::Context::make(std::move(program), tool_allocator(),
                                     {.instructions = options.max_instructions, .deadline_ns = deadline_ns}));

  Runner runner(std::move(context), options, devices, times);
  runner.stop_at(deadline_ns);
  Status outcome;
  for (size_t i = 0; outcome.ok() && i < functions.size(); ++i) outcome = runner.call(functions[i]);
  times.begin("");
  times.note_devices(devices);
  return outcome;
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Options options;
  if (std::optional<int> code = baton::tools::parse(argc, argv, options)) return *code;
  baton::tools::PhaseTimes times("baton-run-module");
  const baton::Status status = baton::tools::run(options, times);
  times.begin("");
  const int code = baton::tools::report(status);
  if (options.print_statistics) times.print();
  return code;
}
