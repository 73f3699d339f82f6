// Between threads: round trips to workers that are awake or asleep, waking somebody who waits for a semaphore, and the
// pool beside what it could have been built on.
//
// On a machine that others use too the mean says how often they had the core; the median and the fastest tenth say what
// the code does.
#include <benchmark/benchmark.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "bench/hal/fixture.hpp"
#include "bench/hal/openmp.h"
#include "hal/drivers/local/device.hpp"
#include "hal/drivers/local/task_pool.hpp"

namespace baton::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kParkedNs = 2'000'000;  // Long enough for every worker to have gone to sleep.

void rest(int64_t pause_ns) {
  if (pause_ns == 0) return;
  const timespec pause{0, pause_ns};
  nanosleep(&pause, nullptr);
}

// Times one thing at a time, with a pause before each.
template <typename Once>
void time_each(benchmark::State& state, int64_t pause_ns, Once&& once) {
  std::vector<double> times_ns;
  for (auto _ : state) {
    rest(pause_ns);
    const auto start = Clock::now();
    once();
    const std::chrono::duration<double> spent = Clock::now() - start;
    state.SetIterationTime(spent.count());
    times_ns.push_back(spent.count() * 1e9);
  }
  std::sort(times_ns.begin(), times_ns.end());
  state.counters["tenth_ns"] = times_ns[times_ns.size() / 10];
  state.counters["median_ns"] = times_ns[times_ns.size() / 2];
}

// Submit, run, signal, hear of it. What kernels are known to take decides who runs them; with "inline_us=0" that is
// never the call that submits, whatever they take.
void round_trip(benchmark::State& state, const char* uri, int64_t pause_ns) {
  Fixture fixture(uri);
  const auto recording = fixture.record(1, 0, static_cast<uint32_t>(state.range(0)));
  time_each(state, pause_ns, [&] { fixture.execute_and_wait(*recording); });
}
constexpr char kTask[] = "local-task", kHandedOver[] = "local-task?inline_us=0";
BENCHMARK_CAPTURE(round_trip, warm, kTask, 0)->Arg(1)->Arg(64)->UseManualTime();
BENCHMARK_CAPTURE(round_trip, parked, kTask, kParkedNs)->Arg(1)->Arg(64)->UseManualTime()->Iterations(300);
BENCHMARK_CAPTURE(round_trip, warm_handed_over, kHandedOver, 0)->Arg(1)->Arg(64)->UseManualTime();
BENCHMARK_CAPTURE(round_trip, parked_handed_over, kHandedOver, kParkedNs)
    ->Arg(1)
    ->Arg(64)
    ->UseManualTime()
    ->Iterations(300);

// A thread that answers: it does `wait_for(turn)`, then `answer(turn)`, for as long as the turn is positive.
template <typename Wait, typename Answer>
std::thread responder(Wait wait_for, Answer answer) {
  return std::thread([=] {
    for (uint64_t turn = 1; wait_for(turn); ++turn) answer(turn);
  });
}

// What the system asks for waking a thread that sleeps and being woken by it: nothing parked can be faster.
void futex_round_trip(benchmark::State& state) {
  std::atomic<uint64_t> ping{0}, pong{0};
  std::atomic<bool> over{false};
  std::thread other = responder(
      [&](uint64_t turn) {
        ping.wait(turn - 1);
        return !over;
      },
      [&](uint64_t turn) {
        pong = turn;
        pong.notify_one();
      });
  uint64_t turn = 0;
  time_each(state, kParkedNs, [&] {
    ++ping;
    ping.notify_one();
    pong.wait(turn++);
  });
  over = true;
  ++ping;
  ping.notify_one();
  other.join();
}
BENCHMARK(futex_round_trip)->UseManualTime()->Iterations(300);

// Two semaphores and two threads: signal one, be woken by the other.
void semaphore_round_trip(benchmark::State& state, int64_t pause_ns) {
  const Fixture fixture("local-sync");
  const auto ping = expect(fixture.device->make_semaphore());
  const auto pong = expect(fixture.device->make_semaphore());
  std::atomic<bool> over{false};
  std::thread other = responder(
      [&](uint64_t turn) {
        expect(ping->wait(turn));
        return !over;
      },
      [&](uint64_t turn) { expect(pong->signal(turn)); });
  uint64_t turn = 0;
  time_each(state, pause_ns, [&] {
    expect(ping->signal(++turn));
    expect(pong->wait(turn));
  });
  over = true;
  expect(ping->signal(++turn));
  other.join();
}
BENCHMARK_CAPTURE(semaphore_round_trip, warm, 0)->UseManualTime();
BENCHMARK_CAPTURE(semaphore_round_trip, parked, kParkedNs)->UseManualTime()->Iterations(300);

// Empty tiles on threads that are awake.
void pool(benchmark::State& state) {
  hal::drivers::local::TaskPool pool({.worker_count = hal::drivers::local::default_worker_count()});
  const auto nothing = [](void*, hal::drivers::local::Worker&, hal::drivers::local::TileRange tiles) {
    benchmark::DoNotOptimize(tiles);
  };
  hal::drivers::local::MeasuredCost tile_cost;  // As kernels keep it.
  for (auto _ : state) pool.run_tiles({nothing, nullptr, static_cast<uint64_t>(state.range(0)), &tile_cost});
}
BENCHMARK(pool)->Name("fork_join/pool")->Arg(2)->Arg(64)->UseRealTime();

void tbb(benchmark::State& state) {
  for (auto _ : state) {
    ::tbb::parallel_for(int64_t{0}, state.range(0), [](int64_t tile) { benchmark::DoNotOptimize(tile); });
  }
}
BENCHMARK(tbb)->Name("fork_join/tbb")->Arg(2)->Arg(64)->UseRealTime();

void openmp(benchmark::State& state) {
  for (auto _ : state) openmp_fork_join(static_cast<int>(state.range(0)));
}
BENCHMARK(openmp)->Name("fork_join/openmp")->Arg(2)->Arg(64)->UseRealTime();

constexpr int64_t kFanOutTiles = 64, kFanOutTileNs = 10'000;

void work_for(int64_t time_ns) {
  const auto start = Clock::now();
  while (Clock::now() - start < std::chrono::nanoseconds(time_ns)) {
  }
}
void work_for_a_tile() { work_for(kFanOutTileNs); }

// Tiles worth sharing, on threads that sleep: how soon all of them are at it.
void fan_out_pool(benchmark::State& state) {
  hal::drivers::local::TaskPool pool({.worker_count = hal::drivers::local::default_worker_count()});
  const auto work = [](void*, hal::drivers::local::Worker&, hal::drivers::local::TileRange tiles) {
    for (uint64_t tile = tiles.begin; tile < tiles.end; ++tile) work_for(kFanOutTileNs);
  };
  hal::drivers::local::MeasuredCost tile_cost;
  time_each(state, kParkedNs, [&] { pool.run_tiles({work, nullptr, kFanOutTiles, &tile_cost}); });
}
BENCHMARK(fan_out_pool)->Name("fan_out/pool")->UseManualTime()->Iterations(100);

void fan_out_tbb(benchmark::State& state) {
  time_each(state, kParkedNs,
            [&] { ::tbb::parallel_for(int64_t{0}, kFanOutTiles, [](int64_t) { work_for(kFanOutTileNs); }); });
}
BENCHMARK(fan_out_tbb)->Name("fan_out/tbb")->UseManualTime()->Iterations(100);

void fan_out_openmp(benchmark::State& state) {
  time_each(state, kParkedNs, [&] { openmp_run_tiles(static_cast<int>(kFanOutTiles), work_for_a_tile); });
}
BENCHMARK(fan_out_openmp)->Name("fan_out/openmp")->UseManualTime()->Iterations(100);

}  // namespace
}  // namespace baton::bench
