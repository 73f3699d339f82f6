// 16M floats squared: how the pool scales with its workers, beside OpenMP. With N workers N + 1 threads work, because the one that
// waits helps; OpenMP's N counts all of its threads.
#include <benchmark/benchmark.h>

#include <string>
#include <thread>
#include <vector>

#include "bench/hal/fixture.hpp"
#include "bench/hal/openmp.h"
#include "hal/buffer.hpp"

namespace baton::bench {
namespace {

constexpr uint64_t kCount = 16ull * 1024 * 1024;
constexpr uint64_t kBytes = kCount * sizeof(float);

void wrong_answer() { give_up(failure(StatusCode::kInternal, "A squared element differs from the reference (5).")); }

void local(benchmark::State& state) {
  const int64_t workers = state.range(0);
  Fixture fixture(workers == 0 ? "local-sync" : "local-task?workers=" + std::to_string(workers));
  const auto source = expect(fixture.device->allocator().allocate({.length = kBytes}));
  const auto target = expect(fixture.device->allocator().allocate({.length = kBytes}));
  hal::Queue& queue = fixture.device->queue();
  expect(queue.fill_buffer({}, {.target = source, .pattern = 0x40000000}));
  expect(queue.fill_buffer({}, {.target = target}));
  expect(queue.wait_idle());
  auto commands = expect(fixture.device->make_command_buffer({}));
  const hal::Binding bindings[] = {{source, hal::Access::kRead}, {target, hal::Access::kWrite}};
  expect(commands->dispatch(
      {.executable = fixture.executable.get(), .entry_point = kSquare, .grid = {1024, 1, 1}, .bindings = bindings}));
  const auto recording = expect(commands->finish());
  fixture.execute_and_wait(*recording);
  if (expect(target->map(hal::Access::kRead)).as<float>()[kCount - 1] != 5.0f) wrong_answer();
  for (auto _ : state) fixture.execute_and_wait(*recording);
  state.SetBytesProcessed(static_cast<int64_t>(2 * kBytes) * state.iterations());
}

void openmp(benchmark::State& state) {
  openmp_threads(static_cast<int>(state.range(0)));
  std::vector<float> source(kCount, 2.0f), target(kCount);
  openmp_square(source.data(), target.data(), kCount);
  if (target.back() != 5.0f) wrong_answer();
  for (auto _ : state) openmp_square(source.data(), target.data(), kCount);
  state.SetBytesProcessed(static_cast<int64_t>(2 * kBytes) * state.iterations());
}

// 1, 2, 4, ... as many as there are cores.
void by_cores(benchmark::internal::Benchmark* row) {
  const int64_t cores = std::thread::hardware_concurrency();
  for (int64_t count = 1; count < cores; count *= 2) row->Arg(count);
  row->Arg(cores)->UseRealTime();
}
BENCHMARK(local)->Name("elementwise/local_sync")->Arg(0)->UseRealTime();
BENCHMARK(local)->Name("elementwise/local_task")->Apply(by_cores);
BENCHMARK(openmp)->Name("elementwise/openmp")->Apply(by_cores);

}  // namespace
}  // namespace baton::bench
