#include "tools/benchmark/device_row.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>

#include "tools/support/device_times.hpp"
#include "vm/invocation.hpp"

namespace baton::tools {
namespace {

// Counted by the device's time alone, work that the host takes long to prepare would be waited for all day; so the
// number is fixed, by what one takes the host.
constexpr int64_t kMomentNs = 50'000'000;
constexpr int64_t kIterationsMax = 1000;

}  // namespace

void measure_on_device(benchmark::State& state, std::span<const Ref<hal::Device>> devices, DeviceWork& work) {
  Status status = work.run();
  DeviceTimes times(devices);
  uint64_t executions = 0;
  int64_t host_ns = 0;
  for (auto _ : state) {
    const int64_t begin_ns = vm::monotonic_clock_ns();
    if (status.ok()) status = work.run();
    if (!status.ok()) return state.SkipWithError(std::string(status.message()).c_str());
    host_ns += vm::monotonic_clock_ns() - begin_ns;
    const hal::ExecutionTimes took = times.take();
    executions += took.executions;
    state.SetIterationTime(static_cast<double>(took.total_ns) * 1e-9);
  }
  state.counters["executions"] =
      benchmark::Counter(static_cast<double>(executions), benchmark::Counter::kAvgIterations);
  state.counters["host_ns"] = benchmark::Counter(static_cast<double>(host_ns), benchmark::Counter::kAvgIterations);
}

int64_t device_iterations(std::span<const Ref<hal::Device>> devices, DeviceWork& work) {
  // Work that fails says so in the rows of the host.
  if (!work.run().ok()) return 0;
  DeviceTimes times(devices);
  const int64_t begin_ns = vm::monotonic_clock_ns();
  if (!work.run().ok() || times.take().executions == 0) return 0;
  const int64_t took_ns = std::max<int64_t>(vm::monotonic_clock_ns() - begin_ns, 1);
  return std::clamp<int64_t>(kMomentNs / took_ns, 1, kIterationsMax);
}

}  // namespace baton::tools
