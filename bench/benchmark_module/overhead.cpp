// The steady call of an empty program, twice in one process: in the loop of baton-benchmark-module, and in one that is
// written by hand as Google Benchmark's users do. What they differ by is what the tool adds.
#include <benchmark/benchmark.h>

#include <cstdio>

#include "bytecode/assembler.hpp"
#include "tools/benchmark/phases.hpp"
#include "vm/bytecode_module.hpp"

namespace baton::tools {
namespace {

constexpr std::string_view kProgram = "module @empty\nexport func @empty() {\n  return\n}\n";

Status make_subject(Subject& subject) {
  BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, bytecode::assemble(kProgram));
  BATON_TRY_ASSIGN(Ref<vm::BytecodeModule> module, vm::BytecodeModule::load(bytecode::ModuleBytes::copy(bytes)));
  subject.modules = {std::move(module)};
  BATON_TRY_ASSIGN(subject.program, vm::Program::link(subject.modules));
  BATON_TRY_ASSIGN(subject.context, vm::Context::make(subject.program));
  BATON_TRY_ASSIGN(const vm::ExportedFunction empty, subject.program->find_function("empty"));
  subject.functions.push_back({empty, {}, false});
  return {};
}

void by_hand(benchmark::State& state, const Subject& subject) {
  vm::Invocation invocation(subject.context);
  const vm::ExportedFunction function = subject.functions[0].function;
  for (auto _ : state) {
    const Status status = invocation.invoke(function, {}, {});
    if (!status.ok()) return state.SkipWithError("the call failed");
  }
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  using namespace baton::tools;
  static Subject subject;
  const baton::Status made = make_subject(subject);
  if (!made.ok()) return std::fprintf(stderr, "%s\n", made.to_string().c_str()), 1;
  benchmark::Initialize(&argc, argv);
  benchmark::RegisterBenchmark("by_hand", [](benchmark::State& state) { by_hand(state, subject); });
  register_function(subject, subject.functions[0]);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
