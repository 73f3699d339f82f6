// What the HAL costs on the host: recording, executing, fork and join. The rows of DESIGN.md section 10 that need no
// GPU.
//
//   hal_bench --benchmark_min_time=0.2s
//
// Kernels do nothing, so that what is timed is Baton's own. "Reach" in the labels is the number to stay below.
#include <benchmark/benchmark.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/driver_registry.hpp"
#include "hal/drivers/local/device.hpp"
#include "hal/drivers/local/task_pool.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"

extern "C" void openmp_fork_join(int tiles);
extern "C" void openmp_square(const float* source, float* target, size_t count);

namespace baton::hal {
namespace {

int do_nothing(const baton_executable_environment*, const baton_dispatch_state*, const baton_workgroup_state*) {
  return 0;
}

int square_elements(const baton_executable_environment*, const baton_dispatch_state* dispatch,
                    const baton_workgroup_state* workgroup) {
  constexpr size_t kElements = 16 * 1024;
  const size_t begin = workgroup->id_x * kElements;
  const float* source = static_cast<const float*>(dispatch->bindings[0]) + begin;
  float* target = static_cast<float*>(dispatch->bindings[1]) + begin;
  for (size_t i = 0; i < kElements; ++i) target[i] = source[i] * source[i] + 1.0f;
  return 0;
}

const baton_executable_library* query(uint32_t, const baton_executable_environment*) {
  static const baton_kernel kernels[] = {do_nothing, square_elements};
  static const char* const names[] = {"nothing", "square"};
  static const baton_kernel_attributes attributes[] = {{1, 2, 1, 1, 1, 0}, {0, 2, 1, 1, 1, 0}};
  static const baton_executable_library library = {
      sizeof(library), BATON_EXECUTABLE_LIBRARY_VERSION, "bench", 0, 0, 0, 2, nullptr, kernels, names, attributes};
  return &library;
}

// A call that must not fail.
template <typename T>
T expect(Result<T> result) {
  if (result.has_value()) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().to_string().c_str());
  std::exit(1);
}
void expect(Status status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  std::exit(1);
}

// A device with a loaded kernel and a few buffers.
struct Bench {
  explicit Bench(std::string_view uri) {
    drivers::DriverOptions options;
    options.local.libraries.push_back({"bench", query});
    DriverRegistry registry;
    expect(drivers::register_drivers(registry, std::move(options)));
    device = expect(registry.open(uri));
    constexpr std::string_view name = "bench";
    const EntryPoint expected[] = {{.name = "nothing", .constant_count = 1, .binding_count = 2},
                                   {.name = "square", .binding_count = 2}};
    const ExecutableVariant variant{"static-library", std::as_bytes(std::span(name))};
    executable = expect(device->make_executable({.name = "bench", .variants = {&variant, 1}, .expected = expected}));
    source = expect(device->allocator().allocate({.length = 4096}));
    target = expect(device->allocator().allocate({.length = 4096}));
    done = expect(device->make_semaphore());
  }

  void record_dispatch(CommandBuffer& commands, std::span<const Binding> bindings, uint32_t workgroups = 1) const {
    static constexpr uint32_t constant = 1;
    expect(commands.dispatch({.executable = executable.get(),
                              .entry_point = 0,
                              .grid = {workgroups, 1, 1},
                              .constants = {&constant, 1},
                              .bindings = bindings}));
  }

  // `slots` 0: fixed buffers; else dispatch i reads slot i % slots.
  Ref<Recording> record(int64_t dispatches, uint32_t slots, uint32_t workgroups = 1) const {
    auto commands = expect(device->make_command_buffer({.name = "bench", .slot_count = slots}));
    for (int64_t i = 0; i < dispatches; ++i) {
      const Binding fixed[] = {{source, Access::kRead}, {target, Access::kWrite}};
      const Slot slot{slots ? static_cast<uint32_t>(i) % slots : 0};
      const Binding patched[] = {Binding(slot, 0, 64, Access::kRead), {target, Access::kWrite}};
      record_dispatch(*commands, slots ? patched : fixed, workgroups);
      expect(commands->barrier({}));
    }
    return expect(commands->finish());
  }

  void execute(Recording& recording, const BindingTable& table = {}) {
    const SemaphorePoint signal(done, ++point);
    expect(device->queue().execute({.signals = {&signal, 1}}, recording, table));
  }
  void execute_and_wait(Recording& recording, const BindingTable& table = {}) {
    execute(recording, table);
    expect(done->wait(point));
  }

  Ref<Device> device;
  Ref<Executable> executable;
  Ref<Buffer> source, target;
  Ref<Semaphore> done;
  uint64_t point = 0;
};

// Time per dispatch + barrier, recordings of 1000 of them, made and dropped.
void record_pair(benchmark::State& state, const char* uri, bool validate) {
  Bench bench(uri);
  const Binding bindings[] = {Binding(Slot{0}, 0, 64, Access::kRead), Binding(Slot{1}, 0, 64, Access::kWrite)};
  constexpr int kPairs = 1000;
  for (auto _ : state) {
    auto commands = expect(bench.device->make_command_buffer({.name = "bench", .slot_count = 2, .validate = validate}));
    for (int i = 0; i < kPairs; ++i) {
      bench.record_dispatch(*commands, bindings);
      expect(commands->barrier({}));
    }
    benchmark::DoNotOptimize(expect(commands->finish()));
  }
  state.counters["pair"] =
      benchmark::Counter(kPairs, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(record_pair, local_validated_reach_60ns, "local-sync", true);
BENCHMARK_CAPTURE(record_pair, local_unchecked, "local-sync", false);
BENCHMARK_CAPTURE(record_pair, null_validated_reach_60ns, "null", true);

void record_execute_wait(benchmark::State& state) {
  Bench bench("local-sync");
  for (auto _ : state) bench.execute_and_wait(*bench.record(1, 0));
}
BENCHMARK(record_execute_wait)->Name("local_sync/record_one_execute_wait_reach_300ns");

// Arguments: dispatches, slots that change.
void execute(benchmark::State& state) {
  Bench bench("local-sync");
  const auto slots = static_cast<uint32_t>(state.range(1));
  const auto recording = bench.record(state.range(0), slots);
  const std::vector<BufferRange> a(slots, BufferRange(bench.source)), b(slots, BufferRange(bench.target));
  bool flip = false;
  for (auto _ : state) {
    bench.execute(*recording, {.buffers = flip ? a : b});
    flip = !flip;
  }
}
BENCHMARK(execute)
    ->Name("local_sync/execute_reach_120ns_plus_15_a_dispatch")
    ->ArgNames({"dispatches", "slots"})
    ->ArgsProduct({{1, 10, 100, 1000}, {0, 1, 10}})
    ->Args({1000, 1000});

void direct_calls(benchmark::State& state) {
  baton_kernel kernel = do_nothing;
  benchmark::DoNotOptimize(kernel);
  for (auto _ : state) {
    for (int64_t i = 0; i < state.range(0); ++i) kernel(nullptr, nullptr, nullptr);
  }
}
BENCHMARK(direct_calls)->Name("floor/c_calls")->Arg(1000);

// Submit, run on a worker, signal, hear of it. On a machine that others use too the mean says how often they had the
// core; the fastest tenth says what the pool does.
void round_trip(benchmark::State& state, int64_t pause_ns) {
  using Clock = std::chrono::steady_clock;
  Bench bench("local-task");
  const auto recording = bench.record(1, 0, static_cast<uint32_t>(state.range(0)));
  std::vector<double> times_ns;
  for (auto _ : state) {
    if (pause_ns) {
      timespec pause{0, pause_ns};
      nanosleep(&pause, nullptr);
    }
    const auto start = Clock::now();
    bench.execute_and_wait(*recording);
    const std::chrono::duration<double> spent = Clock::now() - start;
    state.SetIterationTime(spent.count());
    times_ns.push_back(spent.count() * 1e9);
  }
  std::sort(times_ns.begin(), times_ns.end());
  state.counters["p10_ns"] = times_ns[times_ns.size() / 10];
  state.counters["median_ns"] = times_ns[times_ns.size() / 2];
}
BENCHMARK_CAPTURE(round_trip, warm_reach_3us, 0)->Arg(1)->Arg(64)->UseManualTime();
BENCHMARK_CAPTURE(round_trip, parked_reach_12us, 2'000'000)->Arg(1)->Arg(64)->UseManualTime()->Iterations(300);

// What the system asks for waking a thread that sleeps and being woken by it: no parked round trip can be faster.
void futex_round_trip(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  std::atomic<int> ping{0}, pong{0};
  std::thread other([&] {
    for (int seen = 0; seen >= 0;) {
      ping.wait(seen);
      seen = ping.load();
      pong.store(seen);
      pong.notify_one();
    }
  });
  std::vector<double> times_ns;
  int turn = 0;
  for (auto _ : state) {
    timespec pause{0, 2'000'000};
    nanosleep(&pause, nullptr);
    const auto start = Clock::now();
    const int before = turn++;
    ping.store(turn);
    ping.notify_one();
    pong.wait(before);
    times_ns.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  ping.store(-1);
  ping.notify_one();
  other.join();
  std::sort(times_ns.begin(), times_ns.end());
  state.counters["p10_ns"] = times_ns[times_ns.size() / 10];
  state.counters["median_ns"] = times_ns[times_ns.size() / 2];
}
BENCHMARK(futex_round_trip)->Name("floor/futex_round_trip")->Iterations(300);

// Fork and join of empty tiles on threads that are awake: the pool beside what it could have been built on.
void fork_join_pool(benchmark::State& state) {
  drivers::local::TaskPool pool(drivers::local::default_worker_count());
  const auto nothing = [](void*, drivers::local::Worker&, drivers::local::TileRange tiles) {
    benchmark::DoNotOptimize(tiles);
  };
  for (auto _ : state) pool.run_tiles({nothing, nullptr, static_cast<uint64_t>(state.range(0))});
}
BENCHMARK(fork_join_pool)->Name("fork_join/pool")->Arg(2)->Arg(64)->UseRealTime();

void fork_join_tbb(benchmark::State& state) {
  for (auto _ : state) {
    tbb::parallel_for(int64_t{0}, state.range(0), [](int64_t tile) { benchmark::DoNotOptimize(tile); });
  }
}
BENCHMARK(fork_join_tbb)->Name("fork_join/tbb")->Arg(2)->Arg(64)->UseRealTime();

void fork_join_openmp(benchmark::State& state) {
  for (auto _ : state) openmp_fork_join(static_cast<int>(state.range(0)));
}
BENCHMARK(fork_join_openmp)->Name("fork_join/openmp")->Arg(2)->Arg(64)->UseRealTime();

void allocate_free(benchmark::State& state) {
  Bench bench("local-sync");
  for (auto _ : state) {
    const Ref<Buffer> buffer =
        expect(bench.device->queue().allocate({}, {.length = static_cast<uint64_t>(state.range(0))}));
    expect(bench.device->queue().free({}, *buffer));
  }
}
BENCHMARK(allocate_free)->Name("local_sync/queue_allocate_free")->Arg(4096)->Arg(1 << 20);

void elementwise(benchmark::State& state, const char* uri) {
  Bench bench(uri);
  constexpr uint64_t kBytes = 16ull * 1024 * 1024 * sizeof(float);
  const auto source = expect(bench.device->allocator().allocate({.length = kBytes}));
  const auto target = expect(bench.device->allocator().allocate({.length = kBytes}));
  expect(bench.device->queue().fill_buffer({}, {.target = source, .pattern = 0x40000000}));
  expect(bench.device->queue().fill_buffer({}, {.target = target}));
  expect(bench.device->queue().wait_idle());
  auto commands = expect(bench.device->make_command_buffer({}));
  const Binding bindings[] = {{source, Access::kRead}, {target, Access::kWrite}};
  expect(commands->dispatch(
      {.executable = bench.executable.get(), .entry_point = 1, .grid = {1024, 1, 1}, .bindings = bindings}));
  const auto recording = expect(commands->finish());
  bench.execute_and_wait(*recording);
  if (expect(target->map(Access::kRead)).as<float>()[kBytes / 4 - 1] != 5.0f) std::exit(1);
  for (auto _ : state) bench.execute_and_wait(*recording);
  state.SetBytesProcessed(static_cast<int64_t>(2 * kBytes) * state.iterations());
}
BENCHMARK_CAPTURE(elementwise, local_sync, "local-sync")->UseRealTime();
BENCHMARK_CAPTURE(elementwise, local_task, "local-task")->UseRealTime();

void elementwise_openmp(benchmark::State& state) {
  constexpr size_t kCount = 16ull * 1024 * 1024;
  std::vector<float> source(kCount, 2.0f), target(kCount);
  openmp_square(source.data(), target.data(), kCount);
  if (target.back() != 5.0f) std::exit(1);
  for (auto _ : state) openmp_square(source.data(), target.data(), kCount);
  state.SetBytesProcessed(static_cast<int64_t>(2 * sizeof(float) * kCount) * state.iterations());
}
BENCHMARK(elementwise_openmp)->Name("elementwise/openmp")->UseRealTime();

}  // namespace
}  // namespace baton::hal

BENCHMARK_MAIN();
