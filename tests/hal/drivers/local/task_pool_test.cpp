// local-task under stress: thousands of recordings from several threads, each chained by semaphores; every result
// counts. Run under TSan this is the proof that the pool orders what it says it orders. Then who runs what: workers,
// threads that wait, and the call that submits.
#include "hal/drivers/local/task_pool.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/drivers/local/driver.hpp"
#include "hal/queue.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::local {
namespace {

int add_one(const baton_executable_environment*, const baton_dispatch_state* dispatch,
            const baton_workgroup_state* workgroup) {
  ++static_cast<uint32_t*>(dispatch->bindings[0])[workgroup->id_x];
  return 0;
}

const baton_executable_library* query(uint32_t, const baton_executable_environment*) {
  static const baton_kernel kernels[] = {add_one};
  static const char* const names[] = {"add_one"};
  static const baton_kernel_attributes attributes[] = {{0, 1, 1, 1, 1, 0}};
  static const baton_executable_library library = {
      sizeof(library), BATON_EXECUTABLE_LIBRARY_VERSION, "stress", 0, 0, 0, 1, nullptr, kernels, names, attributes};
  return &library;
}

struct Stress {
  // By default everything is handed over, and workers sleep as soon as they can: that is where it gets difficult.
  explicit Stress(std::string_view workers = "3", std::string_view inline_us = "0", std::string_view spin_us = "0") {
    Options options;
    options.libraries.push_back({"stress", query});
    const DeviceParameter parameters[] = {{"workers", workers}, {"inline_us", inline_us}, {"spin_us", spin_us}};
    device = make_driver(std::move(options))->open("task", parameters).value();
    constexpr std::string_view name = "stress";
    const ExecutableVariant variant{"static-library", std::as_bytes(std::span(name))};
    executable = device->make_executable({.name = "stress", .variants = {&variant, 1}}).value();
  }
  // Adds one to 8 words of slot 0, twice.
  Ref<hal::Recording> record() {
    const auto commands = device->make_command_buffer({.name = "stress", .slot_count = 1}).value();
    const Binding bindings[] = {Slot{0}};
    for (int i = 0; i < 2; ++i) {
      EXPECT_OK(commands->dispatch({.executable = executable.get(), .grid = {8, 1, 1}, .bindings = bindings}));
      EXPECT_OK(commands->barrier({}));
    }
    return commands->finish().value();
  }
  Ref<hal::Device> device;
  Ref<hal::Executable> executable;
};

void run_recordings(Stress& stress, uint32_t recordings) {
  constexpr uint32_t kThreads = 4;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const auto values = stress.device->allocator().allocate({.length = 32}).value();
      EXPECT_OK(stress.device->queue().fill_buffer({}, {.target = values}));
      EXPECT_OK(stress.device->queue().wait_idle());
      const auto chain = stress.device->make_semaphore().value();
      const BufferRange table[] = {values};
      for (uint64_t i = 0; i < recordings; ++i) {
        const SemaphorePoint wait(chain, i), signal(chain, i + 1);
        ASSERT_OK(stress.device->queue().execute({{&wait, 1}, {&signal, 1}}, *stress.record(), {.buffers = table}));
        if (i % 64 == 0) {
          ASSERT_OK(chain->wait(i + 1));
        }
      }
      ASSERT_OK(chain->wait(recordings));
      const auto mapping = values->map(Access::kRead).value();
      for (const uint32_t value : mapping.as<uint32_t>()) EXPECT_EQ(value, 2 * recordings);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(TaskPoolTest, TenThousandRecordingsFromSeveralThreads) {
  Stress stress;
  run_recordings(stress, 2500);
}

TEST(TaskPoolTest, ThousandsOfRecordingsOnWhoeverIsQuickest) {
  Stress stress("3", "1", "20");
  run_recordings(stress, 500);
}

TEST(TaskPoolTest, EveryTileRunsOnceWhoeverHelps) {
  TaskPool pool({.worker_count = 3});
  std::vector<std::thread> leaders;
  for (int leader = 0; leader < 3; ++leader) {
    leaders.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        std::vector<std::atomic<uint32_t>> counts(97);
        const auto run = [](void* context, Worker&, TileRange tiles) {
          for (uint64_t i = tiles.begin; i < tiles.end; ++i)
            ++(*static_cast<std::vector<std::atomic<uint32_t>>*>(context))[i];
        };
        pool.run_tiles({run, &counts, counts.size()});
        for (const auto& count : counts) ASSERT_EQ(count, 1u);
      }
    });
  }
  for (std::thread& leader : leaders) leader.join();
}

TEST(TaskPoolTest, WorkThatWasParkedForLongStarts) {
  Stress stress;
  const auto values = stress.device->allocator().allocate({.length = 32}).value();
  const auto recording = stress.record();
  const auto chain = stress.device->make_semaphore().value();
  const BufferRange table[] = {values};
  for (uint64_t i = 1; i <= 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const SemaphorePoint signal(chain, i);
    ASSERT_OK(stress.device->queue().execute({{}, {&signal, 1}}, *recording, {.buffers = table}));
    ASSERT_OK(chain->wait(i, 10'000'000'000));
  }
}

TEST(TaskPoolTest, TheLastReferenceToADeviceMayGoOnAWorker) {
  for (int i = 0; i < 50; ++i) {
    auto stress = std::make_unique<Stress>();
    const auto go = stress->device->make_semaphore().value(), done = stress->device->make_semaphore().value();
    const SemaphorePoint wait(go, 1), signal(done, 1);
    const auto nothing = make_host_function("nothing", [](const HostCallArguments&) -> Status { return {}; });
    ASSERT_OK(stress->device->queue().host_call({{&wait, 1}, {&signal, 1}}, *nothing));
    stress = nullptr;
    ASSERT_OK(go->signal(1));
    ASSERT_OK(done->wait(1));
  }
}

using namespace std::chrono_literals;

// True as soon as it holds, false when five seconds did not bring it.
template <typename Condition>
bool comes_true(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

// Two tiles that are over only when both have begun.
struct Meeting {
  static void run(void* self, Worker&, TileRange tiles) {
    auto& meeting = *static_cast<Meeting*>(self);
    for (uint64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      if (tile < meeting.first_tile) continue;
      ++meeting.begun;
      if (!comes_true([&] { return meeting.begun >= 2; })) meeting.missed = true;
    }
  }
  uint64_t first_tile = 0;
  std::atomic<int> begun{0};
  std::atomic<bool> missed{false};
};

TEST(TaskPoolTest, TwoLongTilesRunAtOnce) {
  TaskPool pool({.worker_count = 2, .spin_ns = 0});
  for (const double known_ns : {0.0, 1e9}) {
    MeasuredCost cost(known_ns);
    Meeting meeting;
    pool.run_tiles({Meeting::run, &meeting, 2, &cost});
    EXPECT_FALSE(meeting.missed) << known_ns;
  }
}

// Tiles that were brief so far: the leader begins alone and finds out.
TEST(TaskPoolTest, OthersAreCalledWhenTilesTakeLongerThanBefore) {
  TaskPool pool({.worker_count = 2, .spin_ns = 0});
  MeasuredCost cost(1);
  const auto slow = [](void* context, Worker& worker, TileRange tiles) {
    if (tiles.begin == 0) std::this_thread::sleep_for(1ms);
    Meeting::run(context, worker, tiles);
  };
  Meeting meeting;
  meeting.first_tile = 1;
  pool.run_tiles({slow, &meeting, 3, &cost});
  EXPECT_FALSE(meeting.missed);
}

// Whoever looks for work while the leader is at its first tile. A leader that was interrupted is right to let others in, which
// is never sooner than a brief job may take, on the slowest machine too.
TEST(TaskPoolTest, BriefTilesAreRunByTheirLeaderAlone) {
  constexpr uint32_t kWorkers = 3;
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max(),
                    kBriefNs = 2 * (200 + 100 * kWorkers);  // As SharedJobs counts what sharing costs.
  IdleWorkers idle(kWorkers, 0);
  SharedJobs jobs(idle, kWorkers);
  struct Job {
    static void run(void* self, Worker&, TileRange) {
      auto& job = *static_cast<Job*>(self);
      if (job.jobs.any() && job.shared_after_ns == kNever) job.shared_after_ns = monotonic_ns() - job.begin_ns;
    }
    SharedJobs& jobs;
    int64_t begin_ns = monotonic_ns();
    int64_t shared_after_ns = kNever;
  };
  for (int i = 0; i < 200; ++i) {
    MeasuredCost cost(1);
    Job job{jobs};
    jobs.run({Job::run, &job, 2, &cost}, this_worker());
    EXPECT_GT(job.shared_after_ns, kBriefNs) << i;
  }
  MeasuredCost cost(1e9);  // What is not brief is there for all to see.
  Job job{jobs};
  jobs.run({Job::run, &job, 2, &cost}, this_worker());
  EXPECT_NE(job.shared_after_ns, kNever);
}

// The only worker of a device, kept from working: by a callback, since a host call would be given a thread in its place.
class BusyWorker final : SemaphoreWaiter {
 public:
  explicit BusyWorker(hal::Device& device) : begins_(device.make_semaphore().value()) {
    const SemaphorePoint signal(begins_, 1);
    const auto nothing = make_host_function("nothing", [](const HostCallArguments&) -> Status { return {}; });
    begins_->notify(1, *this);
    EXPECT_OK(device.queue().host_call({{}, {&signal, 1}}, *nothing));
    EXPECT_TRUE(comes_true([&] { return begun_.load(); }));
  }
  ~BusyWorker() { release(); }
  void release() {
    over_ = true;
    EXPECT_TRUE(comes_true([&] { return ended_.load(); }));
  }

 private:
  void reached(const Status&) override {
    begun_ = true;
    EXPECT_TRUE(comes_true([&] { return over_.load(); }));
    ended_ = true;
  }

  const Ref<Semaphore> begins_;
  std::atomic<bool> begun_{false}, over_{false}, ended_{false};
};

struct OneRecording {
  explicit OneRecording(Stress& stress)
      : queue(stress.device->queue()),
        recording(stress.record()),
        values(stress.device->allocator().allocate({.length = 32}).value()),
        done(stress.device->make_semaphore().value()) {}

  Status execute() {
    const BufferRange table[] = {values};
    const SemaphorePoint signal(done, ++point);
    return queue.execute({{}, {&signal, 1}}, *recording, {.buffers = table});
  }
  Status wait(int64_t timeout_ns = kWaitForever) { return done->wait(point, timeout_ns); }

  Queue& queue;
  const Ref<hal::Recording> recording;
  const Ref<Buffer> values;
  const Ref<Semaphore> done;
  uint64_t point = 0;
};

TEST(TaskPoolTest, AThreadThatWaitsRunsWhatItWaitsFor) {
  Stress stress("1");
  OneRecording work(stress);
  BusyWorker busy(*stress.device);
  EXPECT_OK(work.execute());
  EXPECT_FALSE(work.done->reached(1));
  EXPECT_OK(work.wait());  // Nobody else can.
  EXPECT_OK(work.execute());
  busy.release();
  EXPECT_OK(work.queue.wait_idle());
}

TEST(TaskPoolTest, AThreadThatWaitsRunsTheWholeChain) {
  Stress stress("1");
  OneRecording work(stress);
  BusyWorker busy(*stress.device);
  const BufferRange table[] = {work.values};
  for (uint64_t i = 0; i < 20; ++i) {
    const SemaphorePoint wait(work.done, i), signal(work.done, i + 1);
    EXPECT_OK(work.queue.execute({{&wait, 1}, {&signal, 1}}, *work.recording, {.buffers = table}));
  }
  EXPECT_OK(work.done->wait(20));
}

TEST(TaskPoolTest, AThreadThatHasLittleTimeRunsWhatIsKnownToTakeLess) {
  Stress stress("1");
  OneRecording work(stress);
  {
    BusyWorker busy(*stress.device);
    EXPECT_OK(work.execute());
    EXPECT_FAILS(work.wait(1'000'000), StatusCode::kDeadlineExceeded, "did not reach 1");
  }
  for (int i = 0; i < 20; ++i) {  // Until a first run that took long, for whatever reason, is forgotten.
    EXPECT_OK(work.wait());
    EXPECT_OK(work.execute());
  }
  EXPECT_OK(work.wait());
  BusyWorker busy(*stress.device);
  EXPECT_OK(work.execute());
  EXPECT_OK(work.wait(1'000'000'000));
}

TEST(TaskPoolTest, AThreadThatWaitsRunsNothingElse) {
  Stress stress("1");
  OneRecording awaited(stress), other(stress);
  BusyWorker busy(*stress.device);
  EXPECT_OK(other.execute());
  EXPECT_OK(awaited.execute());
  EXPECT_OK(awaited.wait());
  EXPECT_FALSE(other.done->reached(1));
}

TEST(TaskPoolTest, HostCodeRunsOnWorkersOnly) {
  Stress stress("1", "1000000");
  const auto done = stress.device->make_semaphore().value();
  std::atomic<std::thread::id> thread;
  const auto note = make_host_function("note", [&](const HostCallArguments&) -> Status {
    thread = std::this_thread::get_id();
    return {};
  });
  const auto commands = stress.device->make_command_buffer({}).value();
  EXPECT_OK(commands->host_call({.function = note.get()}));
  const auto recording = commands->finish().value();
  for (uint64_t i = 1; i <= 20; ++i) {
    const SemaphorePoint signal(done, i);
    if (i % 2 == 0) {
      EXPECT_OK(stress.device->queue().host_call({{}, {&signal, 1}}, *note));
    } else {
      EXPECT_OK(stress.device->queue().execute({{}, {&signal, 1}}, *recording));
    }
    EXPECT_OK(done->wait(i));
    EXPECT_NE(thread.load(), std::this_thread::get_id());
  }
}

// Each host call waits for a thread, which waits for what takes a thread of the device: the next host call, and at last kernels,
// which it doesn't run itself because its time is short.
void call_within_call(Stress& stress, int depth) {
  const auto done = stress.device->make_semaphore().value();
  const SemaphorePoint signal(done, 1);
  if (depth == 0) {
    OneRecording work(stress);
    EXPECT_OK(work.execute());
    EXPECT_TRUE(comes_true([&] { return work.wait(1'000'000).ok(); }));
    return;
  }
  const auto call = make_host_function("call", [&](const HostCallArguments&) -> Status {
    std::thread other([&] { call_within_call(stress, depth - 1); });
    other.join();
    return {};
  });
  if (depth % 2 == 0) {
    EXPECT_OK(stress.device->queue().host_call({{}, {&signal, 1}}, *call));
  } else {
    const auto commands = stress.device->make_command_buffer({}).value();
    EXPECT_OK(commands->host_call({.function = call.get()}));
    EXPECT_OK(stress.device->queue().execute({{}, {&signal, 1}}, *commands->finish().value()));
  }
  EXPECT_OK(done->wait(1, 30'000'000'000));
}

TEST(TaskPoolTest, CodeOfTheHostMayWaitForOtherThreadsThatUseTheDevice) {
  for (const char* workers : {"1", "2"}) {
    Stress stress(workers);
    for (int depth = 1; depth <= 6; ++depth) call_within_call(stress, depth);
  }
}

TEST(TaskPoolTest, CodeOfTheHostMayWaitForWhatIsSignalledLater) {
  Stress stress("1");
  Queue& queue = stress.device->queue();
  const auto go = stress.device->make_semaphore().value(), inner = stress.device->make_semaphore().value(),
             outer = stress.device->make_semaphore().value();
  std::atomic<bool> begun = false;
  const auto nothing = make_host_function("nothing", [](const HostCallArguments&) -> Status { return {}; });
  const auto call = make_host_function("call", [&](const HostCallArguments&) -> Status {
    begun = true;
    return inner->wait(1, 30'000'000'000);
  });
  const SemaphorePoint wait(go, 1), ends_inner(inner, 1), ends_outer(outer, 1);
  EXPECT_OK(queue.host_call({{&wait, 1}, {&ends_inner, 1}}, *nothing));
  EXPECT_OK(queue.host_call({{}, {&ends_outer, 1}}, *call));
  EXPECT_TRUE(comes_true([&] { return begun.load(); }));
  std::this_thread::sleep_for(5ms);  // By now it sleeps, and looks for no work.
  EXPECT_OK(go->signal(1));
  EXPECT_OK(outer->wait(1, 30'000'000'000));
}

TEST(TaskPoolTest, WorkThatIsKnownToBeBriefIsDoneByTheCall) {
  Stress stress("1", "1000000");
  OneRecording work(stress);
  EXPECT_OK(work.execute());
  EXPECT_OK(work.wait());
  BusyWorker busy(*stress.device);
  EXPECT_OK(work.execute());
  EXPECT_TRUE(work.done->reached(2));
}

// A callback that waits for what it has submitted itself, on the only worker that is awake.
TEST(TaskPoolTest, ACallbackMayWaitForOtherWork) {
  Stress stress("2");
  Queue& queue = stress.device->queue();
  const auto first = stress.device->make_semaphore().value(), second = stress.device->make_semaphore().value();
  const auto nothing = make_host_function("nothing", [](const HostCallArguments&) -> Status { return {}; });
  struct Waiter final : SemaphoreWaiter {
    void reached(const Status&) override { then(); }
    std::function<void()> then;
  } waiter;
  waiter.then = [&] {
    const SemaphorePoint signal(second, 1);
    EXPECT_OK(queue.host_call({{}, {&signal, 1}}, *nothing));
    EXPECT_OK(second->wait(1, 5'000'000'000));
  };
  first->notify(1, waiter);
  const SemaphorePoint signal(first, 1);
  EXPECT_OK(queue.host_call({{}, {&signal, 1}}, *nothing));
  EXPECT_OK(queue.wait_idle());
  EXPECT_TRUE(second->reached(1));
}

}  // namespace
}  // namespace baton::hal::drivers::local
