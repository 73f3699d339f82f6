// A steady state of recording and executing allocates nothing: blocks go round, tables are read in place.
#include "hal/recording.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/driver_registry.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "hal/queue.hpp"
#include "tests/conformance/kernels.h"
#include "tests/support/status_matchers.hpp"

static std::atomic<uint64_t> allocation_count{0};

void* operator new(size_t size) {
  ++allocation_count;
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace baton::hal {
namespace {

Ref<Device> open(std::string_view uri) {
  drivers::DriverOptions options;
  options.local.libraries.push_back({"kernels", conformance_kernels_query});
  DriverRegistry registry;
  EXPECT_OK(drivers::register_drivers(registry, std::move(options)));
  return registry.open(uri).value();
}

// Calls of new, and bytes in use of malloc, which blocks come from. Sanitizers know nothing of the latter: there only
// the former counts.
uint64_t allocations_now() { return allocation_count + mallinfo2().uordblks; }

void record_pairs(CommandBuffer& commands, Executable& executable, std::span<const Binding> bindings, int count) {
  for (int i = 0; i < count; ++i) {
    EXPECT_OK(commands.dispatch({.executable = &executable, .entry_point = 0, .bindings = bindings}));
    EXPECT_OK(commands.barrier({}));
  }
}

TEST(RecordingTest, RecordingACommandAllocatesNothing) {
  for (const std::string_view uri : {"local-sync", "local-task", "null"}) {
    const auto device = open(uri);
    constexpr std::string_view name = "kernels";
    const EntryPoint expected[] = {{.name = "add", .layout_known = false}};
    const ExecutableVariant variant{"static-library", std::as_bytes(std::span(name))};
    const auto executable =
        device->make_executable({.name = "k", .variants = {&variant, 1}, .expected = expected}).value();
    const auto buffer = device->allocator().allocate({.length = 64}).value();
    const Binding bindings[] = {buffer};
    // The least of some rounds: the device's threads, when they begin late, allocate for themselves meanwhile.
    uint64_t allocations[2] = {~uint64_t{0}, ~uint64_t{0}};
    for (int round = 0; round < 4; ++round) {
      for (int pairs : {10, 500}) {
        const auto commands = device->make_command_buffer({.validate = false}).value();
        const uint64_t before = allocations_now();
        record_pairs(*commands, *executable, bindings, pairs);
        uint64_t& least = allocations[pairs > 10];
        least = std::min(least, allocations_now() - before);
        EXPECT_OK(commands->finish());
      }
    }
    EXPECT_EQ(allocations[0], 0u) << uri;
    EXPECT_EQ(allocations[1], 0u) << uri;
  }
}

TEST(RecordingTest, ExecutingInlineAllocatesNothing) {
  const auto device = open("local-sync");
  const auto buffer = device->allocator().allocate({.length = 64}).value();
  const auto done = device->make_semaphore().value();
  const auto commands = device->make_command_buffer({.slot_count = 1}).value();
  for (int i = 0; i < 10; ++i) EXPECT_OK(commands->fill_buffer({.target = Binding(Slot{0}, 0, 64)}));
  const auto recording = commands->finish().value();
  const BufferRange table[] = {buffer};
  EXPECT_OK(device->queue().execute({}, *recording, {.buffers = table}));  // The thread's worker is made once.
  const uint64_t before = allocations_now();
  for (uint64_t i = 1; i <= 100; ++i) {
    const SemaphorePoint signal(done, i);
    EXPECT_OK(device->queue().execute({.signals = {&signal, 1}}, *recording, {.buffers = table}));
    EXPECT_OK(done->wait(i));
  }
  EXPECT_EQ(allocations_now() - before, 0u);
}

TEST(RecordingTest, SlotsKnowWhatTheyNeedAndWhoUsesThem) {
  const auto device = open("local-sync");
  const auto commands = device->make_command_buffer({.slot_count = 3}).value();
  EXPECT_OK(commands->fill_buffer({.target = Binding(Slot{2}, 8, 8)}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->copy_buffer({.source = Binding(Slot{2}, 0, 4), .target = Binding(Slot{0}, 4, 4)}));
  const auto recording = commands->finish().value();
  const auto needs = recording->slots().needs();
  EXPECT_EQ(needs[0].length, 8u);
  EXPECT_EQ(needs[1].use_count, 0u);
  EXPECT_EQ(needs[2].length, 16u);
  EXPECT_EQ(needs[2].usage, BufferUsage::kTransfer);
  std::vector<std::pair<uint32_t, uint32_t>> uses;
  recording->slots().uses().for_each([&](const SlotUse& use) { uses.emplace_back(use.slot, use.command); });
  EXPECT_EQ(uses, (std::vector<std::pair<uint32_t, uint32_t>>{{2, 0}, {2, 2}, {0, 2}}));
}

}  // namespace
}  // namespace baton::hal
