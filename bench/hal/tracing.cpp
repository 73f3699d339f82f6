// What a trace costs: a recording of 10,000 dispatches again and again, on a device that nobody observes and on one that puts each
// dispatch on a timeline. Where nobody does there is no hook: `off` is the device as it is.
#include <benchmark/benchmark.h>

#include "base/timeline.hpp"
#include "bench/hal/fixture.hpp"

namespace baton::bench {
namespace {

constexpr uint64_t kDispatches = 10'000;
// A timeline keeps a million spans of a thread, and then takes no more, which is cheaper.
constexpr int kExecutions = 40;
static_assert(kExecutions * (kDispatches + 1) < Timeline::kSpansMax);
constexpr uint64_t kElements = 16 * 1024;  // Of a workgroup of the kernel `square`: one to three microseconds.

Ref<hal::Recording> record(const Fixture& fixture, EntryPoint kernel, hal::Buffer& source, hal::Buffer& target) {
  static constexpr uint32_t constant = 1;
  const hal::Binding bindings[] = {hal::Binding(Ref<hal::Buffer>(&source)), hal::Binding(Ref<hal::Buffer>(&target))};
  auto commands = expect(fixture.device->make_command_buffer({.name = "bench"}));
  for (uint64_t i = 0; i < kDispatches; ++i) {
    expect(commands->dispatch({.executable = fixture.executable.get(),
                               .entry_point = kernel,
                               .constants = {&constant, kernel == kDoNothing ? size_t{1} : size_t{0}},
                               .bindings = bindings}));
  }
  return expect(commands->finish());
}

void execute_10000(benchmark::State& state, EntryPoint kernel, bool traced) {
  Timeline timeline;  // The process holds the spans of one run.
  Fixture fixture("local-sync", traced ? &timeline : nullptr);
  const auto buffer = [&] {
    return expect(fixture.device->allocator().allocate({.length = kElements * sizeof(float)}));
  };
  const Ref<hal::Buffer> source = buffer(), target = buffer();
  const Ref<hal::Recording> recording = record(fixture, kernel, *source, *target);
  for (auto _ : state) fixture.execute(*recording);
  expect(fixture.device->queue().wait_idle());
}
BENCHMARK_CAPTURE(execute_10000, empty_off, kDoNothing, false)->Iterations(kExecutions);
BENCHMARK_CAPTURE(execute_10000, empty_traced, kDoNothing, true)->Iterations(kExecutions);
BENCHMARK_CAPTURE(execute_10000, work_off, kSquare, false)->Iterations(kExecutions);
BENCHMARK_CAPTURE(execute_10000, work_traced, kSquare, true)->Iterations(kExecutions);

}  // namespace
}  // namespace baton::bench
