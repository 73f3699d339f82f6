#include "tools/benchmark/kernel.hpp"

#include <benchmark/benchmark.h>

#include "base/json_text.hpp"
#include "hal/commands/barrier.hpp"
#include "hal/commands/dispatch.hpp"
#include "hal/queue.hpp"
#include "tools/benchmark/device_row.hpp"
#include "vm/invocation.hpp"

namespace baton::tools {
namespace {

// A fixed number: counted by the time of submitting alone, slow kernels would be waited for all day.
constexpr int64_t kSubmissions = 200;

// Ends a benchmark that cannot go on; true when it did.
bool stopped(benchmark::State& state, const Status& status) {
  if (status.ok()) return false;
  state.SkipWithError(std::string(status.message()).c_str());
  return true;
}

// A semaphore that goes up by one with each execution.
class Timeline {
 public:
  static Result<Timeline> make(hal::Device& device) {
    BATON_TRY_ASSIGN(Ref<hal::Semaphore> semaphore, device.make_semaphore());
    return Timeline(device, std::move(semaphore));
  }

  Status submit(hal::Recording& recording) {
    const hal::SemaphorePoint signal(semaphore_, ++point_);
    return device_->queue().execute({.signals = {&signal, 1}}, recording);
  }
  Status wait() { return semaphore_->wait(point_); }

 private:
  Timeline(hal::Device& device, Ref<hal::Semaphore> semaphore) : device_(&device), semaphore_(std::move(semaphore)) {}

  hal::Device* device_;
  Ref<hal::Semaphore> semaphore_;
  uint64_t point_ = 0;
};

void load(benchmark::State& state, const Kernel& kernel) {
  for (auto _ : state) {
    auto executable = kernel.device->make_executable({.name = kernel.name, .variants = kernel.variants});
    if (!executable && stopped(state, executable.error())) return;
  }
}

void record_one(benchmark::State& state, const Kernel& kernel) {
  for (auto _ : state) {
    auto recording = record(kernel, 1);
    if (!recording && stopped(state, recording.error())) return;
  }
}

void submit(benchmark::State& state, const Kernel& kernel) {
  auto recording = record(kernel, 1);
  if (!recording && stopped(state, recording.error())) return;
  auto timeline = Timeline::make(*kernel.device);
  if (!timeline && stopped(state, timeline.error())) return;
  for (auto _ : state) {
    const int64_t begin_ns = vm::monotonic_clock_ns();
    const Status submitted = timeline->submit(**recording);
    const int64_t end_ns = vm::monotonic_clock_ns();
    if (stopped(state, submitted) || stopped(state, timeline->wait())) return;
    state.SetIterationTime(static_cast<double>(end_ns - begin_ns) * 1e-9);
  }
}

void run(benchmark::State& state, const Kernel& kernel, uint64_t dispatches) {
  auto recording = record(kernel, dispatches);
  if (!recording && stopped(state, recording.error())) return;
  auto timeline = Timeline::make(*kernel.device);
  if (!timeline && stopped(state, timeline.error())) return;
  if (stopped(state, timeline->submit(**recording)) || stopped(state, timeline->wait())) return;  // Warm.
  for (auto _ : state) {
    if (stopped(state, timeline->submit(**recording)) || stopped(state, timeline->wait())) return;
  }
  if (dispatches > 1) {
    state.counters["dispatch_ns"] =
        benchmark::Counter(static_cast<double>(dispatches) / 1e9,
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  }
}

class KernelWork final : public DeviceWork {
 public:
  explicit KernelWork(const Kernel& kernel) : kernel_(kernel) {}
  Status run() override {
    if (!recording_) {
      BATON_TRY_ASSIGN(recording_, record(kernel_, 1));
    }
    return execute(*kernel_.device, *recording_);
  }

 private:
  const Kernel& kernel_;
  Ref<hal::Recording> recording_;
};

void register_on_device(const Kernel& kernel) {
  const std::span<const Ref<hal::Device>> devices(&kernel.device, 1);
  KernelWork trial(kernel);
  const int64_t iterations = device_iterations(devices, trial);
  if (iterations == 0) return;
  benchmark::RegisterBenchmark(as_utf8(kernel.entry_point_name + ".on_device").c_str(),
                               [&kernel](benchmark::State& state) {
                                 KernelWork work(kernel);
                                 measure_on_device(state, {&kernel.device, 1}, work);
                               })
      ->UseManualTime()
      ->Iterations(iterations);
}

}  // namespace

Result<Ref<hal::Recording>> record(const Kernel& kernel, uint64_t dispatches) {
  BATON_TRY_ASSIGN(const auto commands, kernel.device->make_command_buffer({.name = "benchmark"}));
  std::vector<hal::Binding> bindings;
  for (const Ref<hal::BufferView>& view : kernel.bindings) bindings.emplace_back(view->buffer());
  for (uint64_t i = 0; i < dispatches; ++i) {
    if (i > 0) BATON_TRY(commands->barrier({}));
    BATON_TRY(commands->dispatch({.executable = kernel.executable.get(),
                                  .entry_point = kernel.entry_point,
                                  .grid = {kernel.grid[0], kernel.grid[1], kernel.grid[2]},
                                  .constants = kernel.constants,
                                  .bindings = bindings}));
  }
  return commands->finish();
}

Status execute(hal::Device& device, hal::Recording& recording) {
  BATON_TRY_ASSIGN(Timeline timeline, Timeline::make(device));
  BATON_TRY(timeline.submit(recording));
  return timeline.wait();
}

void register_kernel(const Kernel& kernel) {
  const std::string name = as_utf8(kernel.entry_point_name);
  benchmark::RegisterBenchmark("executable.load", [&kernel](benchmark::State& state) {
    load(state, kernel);
  })->UseRealTime();
  benchmark::RegisterBenchmark((name + ".record").c_str(),
                               [&kernel](benchmark::State& state) { record_one(state, kernel); });
  benchmark::RegisterBenchmark((name + ".submit").c_str(),
                               [&kernel](benchmark::State& state) { submit(state, kernel); })
      ->UseManualTime()
      ->Iterations(kSubmissions);
  benchmark::RegisterBenchmark(name.c_str(), [&kernel](benchmark::State& state) {
    run(state, kernel, 1);
  })->UseRealTime();
  register_on_device(kernel);
  if (kernel.batch_size < 2) return;
  benchmark::RegisterBenchmark(text(name, "/", kernel.batch_size).c_str(), [&kernel](benchmark::State& state) {
    run(state, kernel, kernel.batch_size);
  })->UseRealTime();
}

}  // namespace baton::tools
