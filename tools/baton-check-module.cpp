// baton-check-module: runs the test functions of modules, those without arguments and results, and prints as GoogleTest
// does.

#include "bytecode/signature.hpp"
#include "tools/check/filter.hpp"
#include "tools/check/test_report.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/flags/duration.hpp"
#include "tools/support/allocator.hpp"
#include "tools/support/builtin_modules.hpp"
#include "tools/support/devices.hpp"
#include "tools/support/fences.hpp"
#include "tools/support/program_source.hpp"
#include "tools/support/rank_output.hpp"
#include "tools/support/report.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"
#include "vm/program.hpp"

namespace baton::tools {
namespace {

struct Options {
  std::vector<std::string> modules;
  std::vector<std::string> more_modules;  // given without --module=
  std::string filter;
  bool list_tests = false;
  bool fail_fast = false;
  DeviceFlags devices;
  std::vector<std::string> parameters;
  std::string timeout;
};

constexpr flags::CommandLine::Program kProgram = {
    "baton-check-module",
    "Runs every exported function without arguments and results as a test, each in a state of its own. A test fails "
    "when\n"
    "its call does: by an expectation of module 'check', or by a trap.",
    "  baton-check-module tests.bvm\n"
    "  baton-check-module tests.bvm --device=local-task --gtest_filter='tests.shape_*-*_slow'\n"
    "  baton-check-module --module=./custom.so --module=tests.bvm --device=local-sync --timeout=10s\n"};

std::optional<int> parse(int argc, char** argv, Options& options) {
  flags::CommandLine line(kProgram);
  line.texts("--module,-m", options.modules, "A .bvm file, - or plugin.so@entry?key=value; again for more");
  line.positionals("modules", options.more_modules, "The same, after all --module=");
  line.text("--filter,--gtest_filter", options.filter, "Patterns of module.function: a*:b?-c for a* and b? but not c");
  line.toggle("--list_tests,--gtest_list_tests", options.list_tests, "Print the tests' names and exit");
  line.toggle("--fail_fast,--gtest_fail_fast", options.fail_fast, "Stop after the first test that fails");
  add_device_flags(line, options.devices);
  line.texts("--parameters", options.parameters, "scope=file, or file: constants for module 'parameters'");
  line.text("--timeout", options.timeout, "Stop each test after so long: 500ms, 2s");
  return line.parse(argc, argv);
}

struct Test {
  std::string name;  // module.function
  vm::ExportedFunction function;
};

bool is_test(const vm::Program& program, const vm::ExportedFunction& function) {
  const bytecode::SignatureShape& shape = function.shape;
  const int arguments = shape.argument_values + shape.argument_refs + shape.segments;
  return shape.result_values + shape.result_refs == 0 && arguments == (takes_fences(program, function) ? 2 : 0);
}

struct TestModule {
  std::string_view name;
  std::vector<Test> tests;
};

// Of each module of `program` that was given as bytecode; `builtin` modules stand before those.
std::vector<TestModule> find_tests(const vm::Program& program, size_t builtin, const check::Filter& filter) {
  std::vector<TestModule> modules;
  for (size_t module = builtin; module < program.modules().size(); ++module) {
    const vm::Module& exporter = *program.modules()[module].module;
    std::vector<Test> tests;
    for (uint32_t i = 0; exporter.as_bytecode() && i < exporter.export_count(); ++i) {
      const vm::ExportedFunction function = program.exported_function(static_cast<uint32_t>(module), i);
      std::string name = text(exporter.name(), ".", function.name);
      if (is_test(program, function) && filter.takes(name)) tests.push_back({std::move(name), function});
    }
    if (!tests.empty()) modules.push_back({exporter.name(), std::move(tests)});
  }
  return modules;
}

Status no_tests(const Options& options, const vm::Module& last) {
  if (!options.filter.empty()) {
    return failure(StatusCode::kNotFound, "no test is taken by --filter=", options.filter, "; --list_tests without it",
                   " lists them");
  }
  return failure(StatusCode::kNotFound, "module '", last.name(), "' exports no function without arguments and results",
                 list_exports(last));
}

class TestRunner {
 public:
  TestRunner(const Ref<vm::Program>& program, std::span<const Ref<hal::Device>> devices, int64_t timeout_ns)
      : program_(program), devices_(devices), timeout_ns_(timeout_ns) {}

  Status run(const Test& test) const {
    const int64_t deadline_ns = timeout_ns_ ? vm::monotonic_clock_ns() + timeout_ns_ : 0;
    BATON_TRY_ASSIGN(Ref<vm::Context> context,
                     vm::Context::make(program_, tool_allocator(), {.instructions = 0, .deadline_ns = deadline_ns}));
    vm::Invocation invocation(std::move(context));
    invocation.set_deadline(deadline_ns);
    if (!takes_fences(*program_, test.function)) return invocation.invoke(test.function, {}, {});
    BATON_TRY_ASSIGN(const CallFences fences, CallFences::make(devices_));
    const vm::Value arguments[] = {fences.wait(), fences.signal()};
    BATON_TRY(invocation.invoke_slots(test.function, arguments, {}));
    return fences.await(deadline_ns);
  }

 private:
  Ref<vm::Program> program_;
  std::span<const Ref<hal::Device>> devices_;
  int64_t timeout_ns_;
};

Status run_all(const TestRunner& runner, const std::vector<TestModule>& modules, bool fail_fast) {
  size_t count = 0;
  for (const TestModule& module : modules) count += module.tests.size();
  check::TestReport report(count, modules.size());
  for (const TestModule& module : modules) {
    report.begin_module(module.name, module.tests.size());
    for (const Test& test : module.tests) {
      report.begin_test(test.name);
      report.end_test(runner.run(test));
      if (fail_fast && report.failed()) break;
    }
    report.end_module();
    if (fail_fast && report.failed()) break;
  }
  report.finish();
  if (report.failed() == 0) return {};
  return failure(StatusCode::kFailedPrecondition, report.failed(), " of ", count, " tests failed");
}

Status run(const Options& options, const hal::Ranks& ranks) {
  int64_t timeout_ns = 0;
  if (!options.timeout.empty()) {
    BATON_TRY_ASSIGN(timeout_ns, flags::parse_duration_ns(options.timeout));
  }
  BATON_TRY_ASSIGN(const hal::DriverRegistry drivers, make_driver_registry(options.devices));
  BATON_TRY_ASSIGN(const bool listed, print_device_lists(drivers, options.devices));
  if (listed) return {};
  BATON_TRY_ASSIGN(const std::vector<Ref<hal::Device>> devices, open_devices(drivers, options.devices));
  std::vector<std::string> sources = options.modules;
  sources.insert(sources.end(), options.more_modules.begin(), options.more_modules.end());
  BATON_TRY_ASSIGN(std::vector<Ref<const vm::Module>> modules, load_modules(sources));
  const Ref<const vm::Module> last = modules.back();
  BATON_TRY_ASSIGN(const std::vector<Ref<const vm::Module>> builtin,
                   builtin_modules(modules, devices, options.parameters, ranks));
  modules.insert(modules.begin(), builtin.begin(), builtin.end());
  BATON_TRY_ASSIGN(const Ref<vm::Program> program, vm::Program::link(modules));

  const auto tests = find_tests(*program, builtin.size(), check::Filter(options.filter));
  if (tests.empty()) return no_tests(options, *last);
  if (!options.list_tests) return run_all(TestRunner(program, devices, timeout_ns), tests, options.fail_fast);
  for (const TestModule& module : tests) {
    for (const Test& test : module.tests) print(test.name + "\n");
  }
  return {};
}

// One of several ranks, which run the same tests in one order.
Status run_ranked(Options& options) {
  BATON_TRY_ASSIGN(const hal::Ranks ranks, hal::ranks_of_environment());
  put_rank(ranks, {&options.modules, &options.more_modules, &options.parameters, &options.devices.devices});
  RankOutput output(ranks);
  return output.finish(run(options, ranks));
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Options options;
  if (std::optional<int> code = baton::tools::parse(argc, argv, options)) return *code;
  return baton::tools::report(baton::tools::run_ranked(options));
}
