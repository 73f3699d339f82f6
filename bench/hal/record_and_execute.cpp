// Recording commands, and executing a recording again, inline on the CPU.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/hal/fixture.hpp"
#include "hal/memory_owner.hpp"

namespace baton::bench {
namespace {

constexpr uint64_t kPairs = 1000;

// Time per dispatch + barrier, recordings of 1000 of them, made and dropped.
void record_pair(benchmark::State& state, const char* uri, bool validate) {
  const Fixture fixture(uri);
  for (auto _ : state) fixture.record_pairs(kPairs, validate);
}
BENCHMARK_CAPTURE(record_pair, local, "local-sync", true);
BENCHMARK_CAPTURE(record_pair, local_unchecked, "local-sync", false);
BENCHMARK_CAPTURE(record_pair, null, "null", true);

void record_execute_wait(benchmark::State& state) {
  Fixture fixture("local-sync");
  for (auto _ : state) fixture.execute_and_wait(*fixture.record(1, 0));
}
BENCHMARK(record_execute_wait);

// Arguments: dispatches, slots that change.
void execute(benchmark::State& state) {
  Fixture fixture("local-sync");
  const auto slots = static_cast<uint32_t>(state.range(1));
  const auto recording = fixture.record(static_cast<uint64_t>(state.range(0)), slots);
  const std::vector<hal::BufferRange> a(slots, hal::BufferRange(fixture.source));
  const std::vector<hal::BufferRange> b(slots, hal::BufferRange(fixture.target));
  bool flip = false;
  for (auto _ : state) {
    fixture.execute(*recording, {.buffers = flip ? a : b});
    flip = !flip;
  }
}
BENCHMARK(execute)->ArgsProduct({{1, 10, 100, 1000}, {0, 1, 10}})->Args({1000, 1000});

int empty_kernel(const void*, const void*, const void*) { return 0; }

// What the work of 1000 empty dispatches is for C.
void c_calls(benchmark::State& state) {
  auto* kernel = empty_kernel;
  benchmark::DoNotOptimize(kernel);
  for (auto _ : state) {
    for (int64_t i = 0; i < state.range(0); ++i) kernel(nullptr, nullptr, nullptr);
  }
}
BENCHMARK(c_calls)->Arg(1000);

// As a context does it, which finds in its memory what it left there itself; or as nobody in particular, for whom all of it
// is cleared each time.
void allocate_free(benchmark::State& state, bool owned) {
  Fixture fixture("local-sync");
  const hal::MemoryOwner owner(owned ? hal::MemoryOwner::make() : hal::MemoryOwner::kNobody);
  hal::Queue& queue = fixture.device->queue();
  for (auto _ : state) {
    const Ref<hal::Buffer> buffer = expect(queue.allocate({}, {.length = static_cast<uint64_t>(state.range(0))}));
    expect(queue.free({}, *buffer));
  }
}
BENCHMARK_CAPTURE(allocate_free, owner, true)->Arg(4096)->Arg(1 << 20);
BENCHMARK_CAPTURE(allocate_free, cleared, false)->Arg(4096)->Arg(1 << 20);

}  // namespace
}  // namespace baton::bench
