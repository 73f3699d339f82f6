// local-task under stress: thousands of recordings from several threads, each chained by semaphores; every result
// counts. Run under TSan this is the proof that the pool orders what it says it orders.
#include "hal/drivers/local/task_pool.hpp"

#include <atomic>
#include <thread>

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
  Stress() {
    Options options;
    options.libraries.push_back({"stress", query});
    const DeviceParameter workers{"workers", "3"};
    device = make_driver(std::move(options))->open("task", {&workers, 1}).value();
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

TEST(TaskPoolTest, TenThousandRecordingsFromSeveralThreads) {
  Stress stress;
  constexpr uint32_t kThreads = 4, kRecordings = 2500;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const auto values = stress.device->allocator().allocate({.length = 32}).value();
      EXPECT_OK(stress.device->queue().fill_buffer({}, {.target = values}));
      EXPECT_OK(stress.device->queue().wait_idle());
      const auto chain = stress.device->make_semaphore().value();
      const BufferRange table[] = {values};
      for (uint64_t i = 0; i < kRecordings; ++i) {
        const SemaphorePoint wait(chain, i), signal(chain, i + 1);
        ASSERT_OK(stress.device->queue().execute({{&wait, 1}, {&signal, 1}}, *stress.record(), {.buffers = table}));
        if (i % 64 == 0) {
          ASSERT_OK(chain->wait(i + 1));
        }
      }
      ASSERT_OK(chain->wait(kRecordings));
      const auto mapping = values->map(Access::kRead).value();
      for (const uint32_t value : mapping.as<uint32_t>()) EXPECT_EQ(value, 2 * kRecordings);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(TaskPoolTest, EveryTileRunsOnceWhoeverHelps) {
  TaskPool pool(3);
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

}  // namespace
}  // namespace baton::hal::drivers::local
