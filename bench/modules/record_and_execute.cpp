// What recording and executing cost a program: through the VM, the imports of "hal" and the driver.
#include <benchmark/benchmark.h>

#include <thread>

#include "bench/modules/fixture.hpp"

namespace baton::bench {
namespace {

constexpr int32_t kPairs = 1000;

void record_pair(benchmark::State& state, const char* device) {
  ProgramFixture program("record_pair", device);
  for (auto _ : state) program.run(kPairs, kPairs);
}
BENCHMARK_CAPTURE(record_pair, null, "null");
BENCHMARK_CAPTURE(record_pair, local, "local-sync");

void record_execute_wait(benchmark::State& state) {
  ProgramFixture program("record_execute_wait", "local-sync");
  for (auto _ : state) program.run(0, 0);
}
BENCHMARK(record_execute_wait);

void execute_again(benchmark::State& state) {
  ProgramFixture program("execute_again", "local-sync");
  for (auto _ : state) program.run(kPairs, kPairs);
}
BENCHMARK(execute_again);

// In a process that has had a second thread references are counted atomically (base/reference_count.hpp). They come
// last: there is no way back.
template <auto kRow>
void with_threads(benchmark::State& state) {
  std::thread([] {}).join();
  kRow(state);
}
void record_pair_null(benchmark::State& state) { record_pair(state, "null"); }
BENCHMARK(with_threads<record_pair_null>)->Name("record_pair/null/threads");
BENCHMARK(with_threads<record_execute_wait>)->Name("record_execute_wait/threads");

}  // namespace
}  // namespace baton::bench
