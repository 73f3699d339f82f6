// Recordings on Vulkan beyond the suite: many in flight with other tables, tables that come back, both interfaces, odd
// sizes, foreign command buffers, and what is refused.
#include "hal/drivers/vulkan/prepared_commands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

#include "by_address_spv.hpp"
#include "by_descriptors_spv.hpp"
#include "hal/commands/all.hpp"
#include "hal/drivers/vulkan/device.hpp"
#include "hal/drivers/vulkan/driver.hpp"
#include "hal/drivers/vulkan/foreign_extensions.hpp"
#include "hal/interface/spirv.hpp"
#include "hal/slot_table.hpp"
#include "numbers_groups_spv.hpp"
#include "shared_spv.hpp"
#include "tests/hal/drivers/vulkan/watched_device.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

using Words = std::vector<uint32_t>;

class PreparedCommandsTest : public testing_support::WatchedDeviceTest {
 protected:
  Result<Ref<hal::Executable>> load(std::span<const unsigned char> code, std::span<const uint32_t> constants = {}) {
    const ExecutableVariant variants[] = {{"spirv", std::as_bytes(code)}};
    return device().make_executable({.name = "kernels", .variants = variants, .constants = constants});
  }
  // target slot 1 = factor (constant slot 0) * source slot 0.
  Ref<hal::Recording> multiply(const Ref<hal::Executable>& executable, uint32_t count) {
    const auto commands =
        device().make_command_buffer({.name = "multiply", .slot_count = 2, .constant_slot_count = 1}).value();
    const Binding bindings[] = {Binding(Slot{0}, 0, 4 * count, Access::kRead), Binding(Slot{1}, 0, 4 * count)};
    const uint32_t constants[] = {count, 0};
    const ConstantSlot slots[] = {{1, 0}};
    EXPECT_OK(commands->dispatch({.executable = executable.get(),
                                  .grid = {(count + 31) / 32, 1, 1},
                                  .constants = constants,
                                  .constant_slots = slots,
                                  .bindings = bindings}));
    return commands->finish().value();
  }
  Status run(hal::Recording& recording, const BindingTable& table = {}) {
    const auto done = device().make_semaphore().value();
    const SemaphorePoint signal(done, 1);
    BATON_TRY(device().queue().execute({.signals = {&signal, 1}}, recording, table));
    return done->wait(1);
  }
};

// A table that fits in part is refused, and leaves no part behind for the one before it, which has not changed.
TEST_F(PreparedCommandsTest, ARefusedTableLeavesNothingBehind) {
  for (const auto code :
       {std::span<const unsigned char>(by_address_spv), std::span<const unsigned char>(by_descriptors_spv)}) {
    const auto recording = multiply(load(code).value(), 4);
    const auto source = buffer_of({1, 2, 3, 4}), other = buffer_of({9, 9, 9, 9}), target = buffer(16);
    const auto small = buffer(12);
    const uint32_t factor = 2;
    SlotTable table(2);
    table.set(0, source);
    table.set(1, target);
    EXPECT_OK(run(*recording, table.table({&factor, 1})));
    for (int turn = 0; turn < 2; ++turn) {
      const BufferRange refused[] = {other, small};
      EXPECT_FAILS(run(*recording, {.buffers = refused, .constants = {&factor, 1}}), StatusCode::kOutOfRange,
                   "Slot 1 has 12 bytes in the table");
      EXPECT_OK(device().queue().fill_buffer({}, {.target = target, .pattern = 0}));
      EXPECT_OK(run(*recording, table.table({&factor, 1})));
      EXPECT_EQ(words_of(*target), (Words{2, 4, 6, 8}));
    }
  }
}

TEST_F(PreparedCommandsTest, ManyTablesAreInFlightAtOnce) {
  for (const auto code :
       {std::span<const unsigned char>(by_address_spv), std::span<const unsigned char>(by_descriptors_spv)}) {
    const auto recording = multiply(load(code).value(), 100);
    Words ones(100);
    std::iota(ones.begin(), ones.end(), 1);
    const auto source = buffer_of(ones);
    std::vector<Ref<hal::Buffer>> targets;
    const auto done = device().make_semaphore().value();
    for (uint32_t i = 0; i < 40; ++i) {
      targets.push_back(buffer(400));
      const BufferRange table[] = {source, targets.back()};
      const SemaphorePoint signal(done, i + 1);
      // Every fourth twice, with the same table.
      for (uint32_t turn = 0; turn < (i % 4 == 0 ? 2u : 1u); ++turn) {
        const Order order{.signals = {&signal, turn == 0 ? size_t{1} : size_t{0}}};
        EXPECT_OK(device().queue().execute(order, *recording, {.buffers = table, .constants = {&i, 1}}));
      }
    }
    EXPECT_OK(done->wait(40));
    EXPECT_OK(device().queue().wait_idle());
    for (uint32_t i = 0; i < 40; ++i) {
      Words expected = ones;
      for (uint32_t& word : expected) word *= i;
      EXPECT_EQ(words_of(*targets[i]), expected) << i;
    }
  }
}

// Each slot is copied to its word of a target. Tables change a little, a lot, not at all, or come as another kind, with
// and without work under way; what runs is always the table that was given.
TEST_F(PreparedCommandsTest, WhatATableSaysIsWhatRuns) {
  constexpr uint32_t kSlots = 150, kBuffers = 9, kWords = 64;
  const auto commands = device().make_command_buffer({.slot_count = kSlots + 1}).value();
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    if (slot % 11 == 5) continue;  // Some are not used, and may be anything.
    EXPECT_OK(
        commands->copy_buffer({.source = Binding(Slot{slot}, 0, 4), .target = Binding(Slot{kSlots}, 4 * slot, 4)}));
  }
  const auto recording = commands->finish().value();
  std::vector<Ref<hal::Buffer>> sources, targets;
  const auto fresh_source = [&](uint32_t i) {
    Words words(kWords);
    std::iota(words.begin(), words.end(), 1000 * i);
    return buffer_of(words);
  };
  for (uint32_t i = 0; i < kBuffers; ++i) sources.push_back(fresh_source(i));
  for (int i = 0; i < 3; ++i) targets.push_back(buffer(4 * kSlots));
  SlotTable table(kSlots + 1);
  std::vector<BufferRange> plain(kSlots + 1);
  std::minstd_rand numbers(7);
  const auto random = [&numbers] { return static_cast<uint32_t>(numbers()); };
  const auto set = [&](uint32_t slot, const BufferRange& range) {
    plain[slot] = range;
    table.set(slot, range);
  };
  const auto change = [&](uint32_t slot) {
    set(slot, BufferRange(sources[random() % kBuffers].get(), 4 * (random() % kWords), 4));
  };
  for (uint32_t slot = 0; slot < kSlots; ++slot) change(slot);
  for (int round = 0; round < 120; ++round) {
    const uint32_t changes = round % 50 == 0 ? 2 * kSlots : random() % 4;
    for (uint32_t i = 0; i < changes; ++i) change(random() % kSlots);
    const size_t target = random() % targets.size();
    set(kSlots, targets[target]);
    Words words(kSlots);
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      if (slot % 11 == 5) continue;
      words[slot] = words_of(*plain[slot].buffer)[plain[slot].offset / 4];
    }
    EXPECT_OK(device().queue().execute({}, *recording, random() % 2 ? table.table() : BindingTable{.buffers = plain}));
    if (random() % 2) continue;  // The next one overtakes it on the host.
    EXPECT_OK(device().queue().wait_idle());
    ASSERT_EQ(words_of(*targets[target]), words) << round;
    if (random() % 4) continue;
    // Another buffer takes the place of one that goes, with luck at the same address.
    const uint32_t gone = random() % kBuffers;
    const hal::Buffer* const before = sources[gone].get();
    sources[gone] = nullptr;
    sources[gone] = fresh_source(static_cast<uint32_t>(round));
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      if (plain[slot].buffer == before) set(slot, BufferRange(sources[gone].get(), plain[slot].offset, 4));
    }
  }
}

// A buffer that stays in its slot brings other parts of it, and parts that are not there are refused as ever.
TEST_F(PreparedCommandsTest, PartsOfABufferTakeTurns) {
  constexpr uint64_t kPart = 256;
  for (const auto code :
       {std::span<const unsigned char>(by_address_spv), std::span<const unsigned char>(by_descriptors_spv)}) {
    const auto recording = multiply(load(code).value(), 2);
    Words words(4 * kPart / 4);
    for (uint32_t i = 0; i < words.size(); ++i) words[i] = i;
    const auto source = buffer_of(words), target = buffer(4 * kPart);
    const uint32_t factor = 3;
    const auto run_parts = [&](uint64_t from, uint64_t to, uint64_t length) {
      const BufferRange table[] = {{source.get(), from, length}, {target.get(), to, 8}};
      return run(*recording, {.buffers = table, .constants = {&factor, 1}});
    };
    for (const uint64_t part : {uint64_t{0}, uint64_t{2}, uint64_t{1}, uint64_t{1}, uint64_t{3}}) {
      EXPECT_OK(run_parts(part * kPart, (3 - part) * kPart, 8));
      EXPECT_EQ(words_of(*target)[(3 - part) * kPart / 4 + 1], 3 * (part * kPart / 4 + 1)) << part;
    }
    EXPECT_FAILS(run_parts(0, 0, 4), StatusCode::kOutOfRange, "Slot 0 has 4 bytes in the table; its 1 uses need 8.");
    EXPECT_FAILS(run_parts(4 * kPart - 4, 0, 8), StatusCode::kOutOfRange, "ends beyond the buffer length (1024)");
    EXPECT_FAILS(run_parts(~uint64_t{0} - 3, 0, 8), StatusCode::kOutOfRange, "ends beyond the buffer length (1024)");
    EXPECT_OK(run_parts(kPart, 0, 8));
    EXPECT_EQ(words_of(*target)[0], 3 * kPart / 4);
  }
}

// Slots of one use and of several, of a known length and open, from the start and from further on: what does not fit is
// refused whichever it is, and the table after it runs.
TEST_F(PreparedCommandsTest, SlotsAreCheckedHoweverTheyAreUsed) {
  const auto kernel = load(by_address_spv).value();
  for (uint32_t variant = 0; variant < 8; ++variant) {
    SCOPED_TRACE(variant);
    const uint32_t uses = variant & 1 ? 2 : 1, offset = variant & 2 ? 4 : 0;
    const bool open = (variant & 4) != 0;
    const auto commands = device().make_command_buffer({.slot_count = 1 + uses}).value();
    for (uint32_t use = 0; use < uses; ++use) {
      const Binding bindings[] = {Binding(Slot{0}, offset, open ? kWholeLength : 8, Access::kRead),
                                  Binding(Slot{1 + use}, 0, 8)};
      const uint32_t constants[] = {2, 3 + use};
      EXPECT_OK(commands->dispatch({.executable = kernel.get(), .constants = constants, .bindings = bindings}));
    }
    const auto recording = commands->finish().value();
    const auto source = buffer_of({5, 6, 7, 8, 9, 10}), first = buffer(8), second = buffer(8), short_one = buffer(4);
    const auto for_copies = device().allocator().allocate({.length = 24, .usage = BufferUsage::kTransfer}).value();
    const auto run_on = [&](const BufferRange& range, hal::Buffer& last) {
      const BufferRange table[] = {range, *first, last};
      return run(*recording, {.buffers = std::span(table).first(1 + uses)});
    };
    const auto runs = [&](uint64_t at) {
      ASSERT_OK(run_on({source.get(), at, offset + 8}, *second));
      const auto word = static_cast<uint32_t>(5 + (at + offset) / 4);
      EXPECT_EQ(words_of(*first), (Words{3 * word, 3 * word + 3}));
      if (uses == 2) {
        EXPECT_EQ(words_of(*second), (Words{4 * word, 4 * word + 4}));
      }
    };
    for (const uint64_t at : {uint64_t{0}, uint64_t{8}, uint64_t{4}}) {
      runs(at);
      EXPECT_FAILS(run_on({source.get(), 20, 8}, *second), StatusCode::kOutOfRange, "beyond the buffer length (24)");
      EXPECT_FAILS(run_on({source.get(), ~uint64_t{0}, 8}, *second), StatusCode::kOutOfRange, "beyond the buffer");
      EXPECT_FALSE(run_on({for_copies.get(), 0, offset + 8}, *second).ok());
      if (!open) {
        EXPECT_FAILS(run_on({source.get(), 0, offset + 4}, *second), StatusCode::kOutOfRange, "Slot 0 has");
      }
      if (uses == 2) {
        EXPECT_FAILS(run_on({source.get(), 0, 24}, *short_one), StatusCode::kOutOfRange, "Slot 2 has 4");
      }
    }
    runs(0);
    const auto freed = buffer(24);
    EXPECT_OK(device().queue().free({}, *freed));
    EXPECT_FALSE(run_on(*freed, *second).ok());
    runs(8);
  }
}

// A table is kept a little longer than the work on it, and its buffers with it, but not for long.
TEST_F(PreparedCommandsTest, TablesGoSoonAfterTheWork) {
  const auto commands = device().make_command_buffer({.slot_count = 1}).value();
  EXPECT_OK(commands->fill_buffer({.target = Binding(Slot{0}, 0, 4)}));
  auto recording = commands->finish().value();
  const auto live = [&] { return device().allocator().memory_use().live_bytes; };
  const uint64_t before = live();
  for (const bool recording_goes : {false, true}) {
    {
      const auto target = buffer(1 << 20);
      const BufferRange table[] = {target};
      EXPECT_OK(run(*recording, {.buffers = table}));
    }
    EXPECT_OK(device().queue().wait_idle());
    if (recording_goes) recording = nullptr;
    for (int i = 0; !recording_goes && live() != before && i < 2000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(live(), before);
  }
}

TEST_F(PreparedCommandsTest, AChainAcrossSemaphoresRunsInOrder) {
  const auto recording = multiply(load(by_address_spv).value(), 4);
  const auto a = buffer_of({1, 1, 1, 1}), b = buffer(16);
  const auto chain = device().make_semaphore().value();
  const uint32_t two = 2;
  for (uint64_t i = 0; i < 20; ++i) {
    const BufferRange there[] = {a, b}, back[] = {b, a};
    const SemaphorePoint wait(chain, i), signal(chain, i + 1);
    EXPECT_OK(
        device().queue().execute({{&wait, 1}, {&signal, 1}}, *recording,
                                 {.buffers = i % 2 ? std::span(back) : std::span(there), .constants = {&two, 1}}));
  }
  EXPECT_OK(chain->wait(20));
  EXPECT_EQ(words_of(*a), Words(4, 1u << 20));
}

// Every length and place up to a few vectors: what stands beside stays.
TEST_F(PreparedCommandsTest, TransfersOfOddSizesTouchNothingElse) {
  constexpr uint64_t kBytes = 96;
  const auto source = buffer(kBytes), target = buffer(kBytes);
  {
    const auto mapping = source->map(Access::kDiscardWrite);
    for (size_t i = 0; i < kBytes; ++i) mapping->bytes()[i] = static_cast<std::byte>(i + 1);
  }
  struct Case {
    uint64_t from, to, length;
  };
  std::vector<Case> cases;
  for (const uint64_t from : {0u, 1u, 4u, 16u})
    for (const uint64_t to : {0u, 3u, 8u, 16u})
      for (const uint64_t length : {1u, 3u, 4u, 15u, 16u, 17u, 33u, 64u}) cases.push_back({from, to, length});
  for (const Case& one : cases) {
    const auto copy = device().make_command_buffer({.slot_count = 2}).value();
    EXPECT_OK(copy->copy_buffer(
        {.source = Binding(Slot{0}, one.from, one.length), .target = Binding(Slot{1}, one.to, one.length)}));
    const auto recording = copy->finish().value();
    EXPECT_OK(device().queue().fill_buffer({}, {.target = target, .pattern = 0xee, .pattern_bytes = 1}));
    const BufferRange table[] = {source, target};
    EXPECT_OK(run(*recording, {.buffers = table}));
    const auto mapping = target->map(Access::kRead);
    for (uint64_t i = 0; i < kBytes; ++i) {
      const bool inside = i >= one.to && i < one.to + one.length;
      const auto expected = inside ? static_cast<std::byte>(i - one.to + one.from + 1) : std::byte{0xee};
      ASSERT_EQ(mapping->bytes()[i], expected) << one.from << " " << one.to << " " << one.length << " " << i;
    }
  }
}

TEST_F(PreparedCommandsTest, FillsAndUpdatesThroughSlotsAtOddPlaces) {
  const auto target = buffer(64);
  const auto commands = device().make_command_buffer({.slot_count = 1}).value();
  const std::byte bytes[] = {std::byte{1}, std::byte{2}, std::byte{3}};
  EXPECT_OK(
      commands->fill_buffer({.target = Binding(Slot{0}, 0, 24), .pattern = 0x0807060504030201, .pattern_bytes = 8}));
  EXPECT_OK(commands->update_buffer({.source = bytes, .target = Binding(Slot{0}, 30, 3)}));
  const auto recording = commands->finish().value();
  for (const uint64_t offset : {0u, 1u, 4u, 7u}) {
    EXPECT_OK(device().queue().fill_buffer({}, {.target = target, .pattern = 0, .pattern_bytes = 1}));
    const BufferRange table[] = {BufferRange(target.get(), offset, 40)};
    EXPECT_OK(run(*recording, {.buffers = table}));
    const auto mapping = target->map(Access::kRead);
    for (uint64_t i = 0; i < 64; ++i) {
      std::byte expected{0};
      if (i >= offset && i < offset + 24) expected = static_cast<std::byte>((i - offset) % 8 + 1);
      if (i >= offset + 30 && i < offset + 33) expected = bytes[i - offset - 30];
      ASSERT_EQ(mapping->bytes()[i], expected) << offset << " " << i;
    }
  }
}

// Memory that somebody else had comes back as zeros, of whatever kind it is.
TEST_F(PreparedCommandsTest, NewMemoryHoldsZeros) {
  for (const MemoryKind memory : {MemoryKind::kDeviceLocal | MemoryKind::kHostVisible, MemoryKind::kHostVisible}) {
    for (const uint64_t length : {uint64_t{20}, uint64_t{100'000}, uint64_t{9} << 20}) {
      for (int turn = 0; turn < 3; ++turn) {
        const auto one = buffer(length, memory);
        const auto mapping = one->map(Access::kReadWrite);
        const auto bytes = mapping->bytes();
        EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; }));
        std::fill(bytes.begin(), bytes.end(), std::byte{0xab});
      }
    }
  }
  // Memory that the host never sees, through a copy.
  for (int turn = 0; turn < 2; ++turn) {
    const auto hidden =
        device()
            .allocator()
            .allocate({.length = 4096, .memory = MemoryKind::kDeviceLocal, .usage = BufferUsage::kTransfer})
            .value();
    const auto seen = buffer(4096);
    EXPECT_OK(device().queue().copy_buffer({}, {.source = hidden, .target = seen}));
    EXPECT_OK(device().queue().fill_buffer({}, {.target = hidden, .pattern = 0xabababab}));
    EXPECT_OK(device().queue().wait_idle());
    EXPECT_EQ(words_of(*seen), Words(1024, 0));
  }
}

TEST_F(PreparedCommandsTest, SpecializedKernelsSeeTheirConstants) {
  const uint32_t constants[] = {8, 16};
  const auto executable = load(shared_spv, constants).value();
  EXPECT_EQ(executable->entry_points()[0].workgroup_size[0], 8u);
  EXPECT_EQ(executable->entry_points()[0].binding_count, 4u);
  const auto target = buffer(64), other = buffer(64);
  const Binding bindings[] = {other, other, other, target};
  const auto commands = device().make_command_buffer().value();
  EXPECT_OK(commands->dispatch({.executable = executable.get(), .bindings = bindings}));
  EXPECT_OK(run(*commands->finish().value()));
  EXPECT_EQ(words_of(*target)[0], 16u);
}

TEST_F(PreparedCommandsTest, RefusesWhatTheDeviceCannotRun) {
  const uint32_t huge[] = {1u << 20, 4}, shared[] = {1, 1u << 20};
  EXPECT_FAILS(load(shared_spv, huge), StatusCode::kOutOfRange, "Kernel 'main' has 1048576 threads in x; device '");
  EXPECT_FAILS(load(shared_spv, shared), StatusCode::kOutOfRange, "bytes of shared memory");
  EXPECT_FAILS(load({}), StatusCode::kInvalidArgument, "has 0 bytes");
  const ExecutableVariant variants[] = {{"spirv", std::as_bytes(std::span(by_descriptors_spv))}};
  const EntryPoint few[] = {{.name = "main", .constant_count = 1, .binding_count = 2}};
  EXPECT_FAILS(device().make_executable({.variants = variants, .expected = few}), StatusCode::kInvalidArgument,
               "Kernel 'main' reads 2 bindings and 2 constants; the program passes 2 bindings and 1 constants.");
  EntryPoint sized = {.name = "main", .constant_count = 2, .binding_count = 2};
  for (const Words& size : {Words{64, 1, 1}, Words{32, 2, 1}, Words{1, 1, 32}, Words{0, 0, 32}}) {
    std::copy(size.begin(), size.end(), sized.workgroup_size);
    EXPECT_FAILS(device().make_executable({.variants = variants, .expected = {&sized, 1}}),
                 StatusCode::kInvalidArgument, "Kernel 'main' has workgroups of 32x1x1; it is launched with ");
  }
  for (const Words& size : {Words{32, 1, 1}, Words{1, 1, 1}, Words{0, 0, 0}}) {
    std::copy(size.begin(), size.end(), sized.workgroup_size);
    EXPECT_OK(device().make_executable({.variants = variants, .expected = {&sized, 1}}));
  }
  const EntryPoint other[] = {{.name = "mein"}};
  EXPECT_FAILS(device().make_executable({.variants = variants, .expected = other}), StatusCode::kNotFound,
               "The code has no entry point 'mein'");
  const ExecutableVariant ptx[] = {{"cuda-ptx", {}}};
  EXPECT_FAILS(device().make_executable({.variants = ptx}), StatusCode::kNotFound, "is no format of Vulkan code");
}

// The refusal names the binding, nothing runs, and the recording runs with the next table.
TEST_F(PreparedCommandsTest, DescriptorsThatVulkanDoesNotTakeFailTheWork) {
  const auto recording = multiply(load(by_descriptors_spv).value(), 4);
  const auto source = buffer_of(Words(8, 3)), target = buffer(32);
  const uint32_t factor = 2;
  const BufferRange crooked[] = {BufferRange(source.get(), 4, 16), target}, straight[] = {source, target};
  EXPECT_FAILS(run(*recording, {.buffers = crooked, .constants = {&factor, 1}}), StatusCode::kInvalidArgument,
               "a kernel by descriptors needs a multiple of");
  EXPECT_OK(run(*recording, {.buffers = straight, .constants = {&factor, 1}}));
  EXPECT_EQ(words_of(*target), (Words{6, 6, 6, 6, 0, 0, 0, 0}));
}

TEST_F(PreparedCommandsTest, SubgroupsAreAsLargeAsTheProgramSays) {
  const uint32_t own = static_cast<Device&>(device()).context().facts().subgroup_size;
  const auto load_for = [&](uint32_t threads) {
    EntryPoint expected{.name = "main"};
    expected.launch.subgroup_size = threads;
    const ExecutableVariant variants[] = {{"spirv", std::as_bytes(std::span(by_address_spv))}};
    return device().make_executable({.name = "kernels", .variants = variants, .expected = {&expected, 1}});
  };
  EXPECT_OK(load_for(own));
  EXPECT_FAILS(load_for(1 << 20), StatusCode::kInvalidArgument,
               "Kernel 'main' is written for subgroups of 1048576 threads; device '");
}

TEST_F(PreparedCommandsTest, ForeignCallsRecordIntoACommandBuffer) {
  const auto target = buffer_of({1, 2, 3, 4});
  auto& own = static_cast<Device&>(device());
  const auto function = make_foreign_function("lib.fill", [&](const ForeignArguments& arguments) -> Status {
    CommandBufferV1 handles;
    BATON_TRY(arguments.scope.extension(kCommandBufferExtension, &handles));
    const Block& block = static_cast<const Buffer&>(*target).block();
    EXPECT_EQ(arguments.bindings[0].address, block.address() + 4);
    own.context().symbols().vkCmdFillBuffer(static_cast<VkCommandBuffer>(handles.command_buffer), block.slab->buffer,
                                            block.offset + 4, 8, 7);
    return {};
  });
  const Binding bindings[] = {BufferRange(target.get(), 4, 8)};
  const auto commands = device().make_command_buffer().value();
  EXPECT_OK(commands->fill_buffer({.target = target, .pattern = 5}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->foreign({.function = function.get(), .bindings = bindings}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(
      commands->copy_buffer({.source = BufferRange(target.get(), 8, 4), .target = BufferRange(target.get(), 12, 4)}));
  const auto recording = commands->finish().value();
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_OK(run(*recording));
    EXPECT_EQ(words_of(*target), (Words{5, 7, 7, 7}));
  }
}

// ---- Command buffers of others --------------------------------------------------------------------------------------

// A library that fills with Vulkan's own command, and says how often it was asked.
class FillLibrary {
 public:
  explicit FillLibrary(hal::Device& device) : own_(static_cast<Device&>(device)) {}

  // `value` into the words of a buffer from `offset` on.
  void fill(const CommandBufferV1& handles, const hal::Buffer& buffer, uint64_t offset, uint64_t length,
            uint32_t value) const {
    const Block& block = static_cast<const Buffer&>(buffer).block();
    symbols().vkCmdFillBuffer(commands(handles), block.slab->buffer, block.offset + offset, length, value);
  }
  template <typename Function>
  static Function find(const CommandBufferV1& handles, const char* name) {
    const auto get = reinterpret_cast<PFN_vkGetDeviceProcAddr>(handles.get_device_proc_addr);
    return reinterpret_cast<Function>(get(static_cast<VkDevice>(handles.device), name));
  }
  static VkCommandBuffer commands(const CommandBufferV1& handles) {
    return static_cast<VkCommandBuffer>(handles.command_buffer);
  }
  const DeviceSymbols& symbols() const { return own_.context().symbols(); }
  Device& device() const { return own_; }

 private:
  Device& own_;
};

// The function is called for tables that are new, and what it recorded comes back with them.
TEST_F(PreparedCommandsTest, ForeignCallsAreKeptByTable) {
  const FillLibrary library(device());
  std::vector<Ref<hal::Buffer>> targets;
  for (int i = 0; i < 10; ++i) targets.push_back(buffer(8));
  int calls = 0;
  const auto function = make_foreign_function("lib.fill", [&](const ForeignArguments& arguments) -> Status {
    ++calls;
    EXPECT_EQ(arguments.bindings[0].host != nullptr, calls == 1) << "the work before it is not done but the first time";
    CommandBufferV1 handles;
    BATON_TRY(arguments.scope.extension(kCommandBufferExtension, &handles));
    for (const auto& target : targets) {
      if (static_cast<Buffer&>(*target).address() + 4 != arguments.bindings[0].address) continue;
      library.fill(handles, *target, 4, 4, arguments.constants[0]);
    }
    return {};
  });
  const auto commands = device().make_command_buffer({.slot_count = 2, .constant_slot_count = 1}).value();
  const Binding bindings[] = {Binding(Slot{0}, 4, 4)};
  const uint32_t constant = 0;
  const ConstantSlot from_slot{0, 0};
  EXPECT_OK(commands->fill_buffer({.target = Binding(Slot{0}, 0, 8), .pattern = 9}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->foreign({.function = function.get(),
                               .constants = {&constant, 1},
                               .constant_slots = {&from_slot, 1},
                               .bindings = bindings}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->copy_buffer({.source = Binding(Slot{0}, 4, 4), .target = Binding(Slot{1}, 0, 4)}));
  const auto recording = commands->finish().value();
  const auto copy = buffer(8);
  const auto run_with = [&](size_t target, uint32_t value) {
    const BufferRange table[] = {targets[target], copy};
    EXPECT_OK(run(*recording, {.buffers = table, .constants = {&value, 1}}));
    EXPECT_OK(device().queue().wait_idle());
    EXPECT_EQ(words_of(*targets[target]), (Words{9, value}));
    EXPECT_EQ(words_of(*copy)[0], value);
  };
  run_with(0, 1);
  run_with(0, 1);
  EXPECT_EQ(calls, 1);
  run_with(0, 2);
  run_with(1, 2);
  run_with(0, 1);
  EXPECT_EQ(calls, 3);
  for (size_t i = 0; i < targets.size(); ++i) run_with(i, 3);  // More than are kept.
  EXPECT_EQ(calls, 13);
  run_with(9, 3);
  EXPECT_EQ(calls, 13);
  run_with(0, 1);
  EXPECT_EQ(calls, 14);
}

// A function that asks for nothing works on the host: in its turn, each time, beside one that records.
TEST_F(PreparedCommandsTest, ForeignCallsOfTheHostKeepTheirTurn) {
  const FillLibrary library(device());
  const auto target = buffer(16);
  int host_calls = 0, calls = 0;
  const auto on_host = make_foreign_function("lib.add", [&](const ForeignArguments& arguments) -> Status {
    ++host_calls;
    if (!arguments.bindings[0].host) return failure(StatusCode::kUnimplemented, "The host sees nothing.");
    auto* const words = reinterpret_cast<uint32_t*>(arguments.bindings[0].host);
    words[1] = words[0] + 1;
    return {};
  });
  const auto recorded = make_foreign_function("lib.fill", [&](const ForeignArguments& arguments) -> Status {
    ++calls;
    CommandBufferV1 handles;
    BATON_TRY(arguments.scope.extension(kCommandBufferExtension, &handles));
    library.fill(handles, *target, 8, 4, 9);
    return {};
  });
  const auto commands = device().make_command_buffer({.slot_count = 1}).value();
  const Binding bindings[] = {Binding(Slot{0}, 0, 16)};
  EXPECT_OK(commands->fill_buffer({.target = Binding(Slot{0}, 0, 16), .pattern = 5}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->foreign({.function = recorded.get(), .bindings = bindings}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->foreign({.function = on_host.get(), .bindings = bindings}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->copy_buffer({.source = Binding(Slot{0}, 4, 4), .target = Binding(Slot{0}, 12, 4)}));
  const auto recording = commands->finish().value();
  const BufferRange table[] = {target};
  for (int turn = 1; turn <= 4; ++turn) {
    EXPECT_OK(device().queue().fill_buffer({}, {.target = target, .pattern = 0}));
    EXPECT_OK(run(*recording, {.buffers = table}));
    EXPECT_EQ(words_of(*target), (Words{5, 6, 9, 6}));
    EXPECT_EQ(host_calls, turn);
  }
  EXPECT_EQ(calls, 1);
}

// Many in flight, from several threads, while the function waits for work that it brings to the same device.
TEST_F(PreparedCommandsTest, ForeignCallsMayWaitForTheDevice) {
  const FillLibrary library(device());
  std::vector<Ref<hal::Buffer>> targets;
  for (int i = 0; i < 16; ++i) targets.push_back(buffer(4));
  const auto function = make_foreign_function("lib.fill", [&](const ForeignArguments& arguments) -> Status {
    CommandBufferV1 handles;
    BATON_TRY(arguments.scope.extension(kCommandBufferExtension, &handles));
    const auto done = device().make_semaphore().value();
    const SemaphorePoint signal(done, 1);
    const auto scratch = buffer(4);
    BATON_TRY(device().queue().fill_buffer({.signals = {&signal, 1}}, {.target = scratch, .pattern = 1}));
    BATON_TRY(done->wait(1));
    for (size_t i = 0; i < targets.size(); ++i) {
      if (static_cast<Buffer&>(*targets[i]).address() != arguments.bindings[0].address) continue;
      library.fill(handles, *targets[i], 0, 4, static_cast<uint32_t>(i + 100));
    }
    return {};
  });
  const auto commands = device().make_command_buffer({.slot_count = 1}).value();
  const Binding bindings[] = {Binding(Slot{0}, 0, 4)};
  EXPECT_OK(commands->foreign({.function = function.get(), .bindings = bindings}));
  const auto recording = commands->finish().value();
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t i = thread; i < targets.size(); i += 4) {
        const BufferRange table[] = {targets[i]};
        EXPECT_OK(device().queue().execute({}, *recording, {.buffers = table}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_OK(device().queue().wait_idle());
  for (size_t i = 0; i < targets.size(); ++i) EXPECT_EQ(words_of(*targets[i]), Words{static_cast<uint32_t>(i + 100)});
}

// rec.vulkan(): what a custom command records itself stands between the commands before and behind it.
TEST_F(PreparedCommandsTest, CustomCommandsRecordSegments) {
  const FillLibrary library(device());
  const auto target = buffer_of({1, 2, 3, 4}), other = buffer(16);
  const auto commands = device().make_command_buffer({.slot_count = 1}).value();
  CommandBufferV1 handles;
  EXPECT_FAILS(commands->extension(kCommandBufferExtension, &handles), StatusCode::kFailedPrecondition,
               "is for a custom command while it records; none does.");
  EXPECT_OK(commands->fill_buffer({.target = target, .pattern = 5}));
  EXPECT_OK(commands->begin_custom({.module = "lib", .function = "fill"}));
  EXPECT_FAILS(commands->extension("cuda.stream.v1", &handles), StatusCode::kUnimplemented,
               "has no extension 'cuda.stream.v1'");
  CommandBufferV1 small{.struct_size = 8};
  EXPECT_FAILS(commands->extension(kCommandBufferExtension, &small), StatusCode::kInvalidArgument,
               "struct_size says 8");
  EXPECT_OK(commands->extension(kCommandBufferExtension, &handles));
  library.fill(handles, *target, 4, 8, 7);
  const void* const first = handles.command_buffer;
  EXPECT_OK(commands->extension(kCommandBufferExtension, &handles));
  EXPECT_EQ(handles.command_buffer, first) << "the same, as long as no command comes between";
  EXPECT_OK(commands->copy_buffer({.source = BufferRange(target.get(), 0, 8), .target = Binding(Slot{0}, 0, 8)}));
  EXPECT_OK(commands->extension(kCommandBufferExtension, &handles));
  EXPECT_NE(handles.command_buffer, first);
  library.fill(handles, *target, 0, 4, 8);
  EXPECT_OK(commands->end_custom({}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->copy_buffer({.source = BufferRange(target.get(), 0, 4), .target = Binding(Slot{0}, 12, 4)}));
  const auto recording = commands->finish().value();
  for (int turn = 0; turn < 3; ++turn) {
    const auto result = turn == 2 ? other : buffer(16);
    const BufferRange table[] = {result};
    EXPECT_OK(run(*recording, {.buffers = table}));
    EXPECT_EQ(words_of(*target), (Words{8, 7, 7, 5}));
    EXPECT_EQ(words_of(*result), (Words{5, 7, 0, 8}));
  }
}

VkQueue queue_of(const CommandBufferV1& on) {
  VkQueue queue = VK_NULL_HANDLE;
  FillLibrary::find<PFN_vkGetDeviceQueue>(on, "vkGetDeviceQueue")(static_cast<VkDevice>(on.device), on.queue_family, 0,
                                                                  &queue);
  return queue;
}

// What would take the command buffer away, or go behind the queue's back, is refused, and names who did it.
TEST_F(PreparedCommandsTest, TheGuardNamesWhatIsRefused) {
  const FillLibrary library(device());
  const auto target = buffer(16);
  struct Misuse {
    const char* call;
    void (*run)(const CommandBufferV1& on);
  };
  std::vector<Misuse> misuses = {
      {"vkEndCommandBuffer",
       [](const CommandBufferV1& on) {
         const auto end = FillLibrary::find<PFN_vkEndCommandBuffer>(on, "vkEndCommandBuffer");
         EXPECT_EQ(end(FillLibrary::commands(on)), VK_ERROR_UNKNOWN);
       }},
      {"vkBeginCommandBuffer",
       [](const CommandBufferV1& on) {
         VkCommandBufferBeginInfo info{};
         info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
         const auto begin = FillLibrary::find<PFN_vkBeginCommandBuffer>(on, "vkBeginCommandBuffer");
         EXPECT_EQ(begin(FillLibrary::commands(on), &info), VK_ERROR_UNKNOWN);
       }},
      {"vkResetCommandBuffer",
       [](const CommandBufferV1& on) {
         const auto reset = FillLibrary::find<PFN_vkResetCommandBuffer>(on, "vkResetCommandBuffer");
         EXPECT_EQ(reset(FillLibrary::commands(on), 0), VK_ERROR_UNKNOWN);
       }},
      {"vkFreeCommandBuffers",
       [](const CommandBufferV1& on) {
         const VkCommandBuffer commands = FillLibrary::commands(on);
         const auto free = FillLibrary::find<PFN_vkFreeCommandBuffers>(on, "vkFreeCommandBuffers");
         free(static_cast<VkDevice>(on.device), VK_NULL_HANDLE, 1, &commands);
       }},
      {"vkQueueSubmit",
       [](const CommandBufferV1& on) {
         const auto submit = FillLibrary::find<PFN_vkQueueSubmit>(on, "vkQueueSubmit");
         EXPECT_EQ(submit(queue_of(on), 0, nullptr, VK_NULL_HANDLE), VK_ERROR_UNKNOWN);
       }},
      {"vkQueueBindSparse",
       [](const CommandBufferV1& on) {
         const auto bind = FillLibrary::find<PFN_vkQueueBindSparse>(on, "vkQueueBindSparse");
         EXPECT_EQ(bind(queue_of(on), 0, nullptr, VK_NULL_HANDLE), VK_ERROR_UNKNOWN);
       }},
      {"vkQueueWaitIdle",
       [](const CommandBufferV1& on) {
         EXPECT_EQ(FillLibrary::find<PFN_vkQueueWaitIdle>(on, "vkQueueWaitIdle")(queue_of(on)), VK_ERROR_UNKNOWN);
       }},
      {"vkDeviceWaitIdle",
       [](const CommandBufferV1& on) {
         // By the table that the table gives.
         const auto get = FillLibrary::find<PFN_vkGetDeviceProcAddr>(on, "vkGetDeviceProcAddr");
         const auto wait =
             reinterpret_cast<PFN_vkDeviceWaitIdle>(get(static_cast<VkDevice>(on.device), "vkDeviceWaitIdle"));
         EXPECT_EQ(wait(static_cast<VkDevice>(on.device)), VK_ERROR_UNKNOWN);
       }},
  };
  // Devices of Vulkan 1.3 have a second way to submit.
  if (library.device().context().facts().api_version >= VK_API_VERSION_1_3) {
    misuses.push_back({"vkQueueSubmit2", [](const CommandBufferV1& on) {
                         const auto submit = FillLibrary::find<PFN_vkQueueSubmit2>(on, "vkQueueSubmit2");
                         EXPECT_EQ(submit(queue_of(on), 0, nullptr, VK_NULL_HANDLE), VK_ERROR_UNKNOWN);
                       }});
  }
  for (const Misuse& misuse : misuses) {
    const auto commands = device().make_command_buffer().value();
    EXPECT_OK(commands->begin_custom({.module = "lib", .function = "crooked"}));
    CommandBufferV1 handles;
    EXPECT_OK(commands->extension(kCommandBufferExtension, &handles));
    library.fill(handles, *target, 0, 4, 1);
    misuse.run(handles);
    const Status status = commands->end_custom({});
    EXPECT_FAILS(status, StatusCode::kFailedPrecondition, text("It calls ", misuse.call, ", which is refused there"));
    EXPECT_FAILS(status, StatusCode::kFailedPrecondition, "in custom command 'lib.crooked'");
    EXPECT_OK(commands->fill_buffer({.target = target, .pattern = 6}));
    EXPECT_OK(run(*commands->finish().value()));
    EXPECT_EQ(words_of(*target), Words(4, 6)) << "the recording goes on without it";

    const auto function = make_foreign_function("lib.foreign", [&](const ForeignArguments& arguments) -> Status {
      BATON_TRY(arguments.scope.extension(kCommandBufferExtension, &handles));
      misuse.run(handles);
      return {};
    });
    const auto foreign = device().make_command_buffer().value();
    EXPECT_OK(foreign->foreign({.function = function.get()}));
    const auto recording = foreign->finish().value();
    const Status failed = run(*recording);
    EXPECT_FAILS(failed, StatusCode::kFailedPrecondition, text("It calls ", misuse.call, ", which is refused there"));
    EXPECT_FAILS(failed, StatusCode::kFailedPrecondition, "in foreign call 'lib.foreign'");
  }
  // Elsewhere the same entries do what they are for.
  CommandBufferV1 handles;
  const auto commands = device().make_command_buffer().value();
  EXPECT_OK(commands->begin_custom({.module = "lib", .function = "fine"}));
  EXPECT_OK(commands->extension(kCommandBufferExtension, &handles));
  const auto wait = FillLibrary::find<PFN_vkDeviceWaitIdle>(handles, "vkDeviceWaitIdle");
  EXPECT_OK(commands->end_custom({}));
  EXPECT_EQ(wait(static_cast<VkDevice>(handles.device)), VK_SUCCESS);
}

// Vulkan's own rules are broken, in front of the layer.
void break_a_rule(hal::Device& device) {
  const Context& context = static_cast<Device&>(device).context();
  VkCommandPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  VkCommandPool made = VK_NULL_HANDLE;
  if (context.symbols().vkCreateCommandPool(context.handle(), &pool, nullptr, &made) == VK_SUCCESS) {
    context.symbols().vkDestroyCommandPool(context.handle(), made, nullptr);
  }
}

// Run by validation_fails_tests, which expects that it fails.
TEST_F(PreparedCommandsTest, DISABLED_AMessageFailsTheTestThatRuns) { break_a_rule(device()); }

using FatalValidationDeathTest = testing_support::WatchedDeviceTest;
TEST_F(FatalValidationDeathTest, AMessageEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto open = [](const char* validation) {
    const DeviceParameter watched[] = {{"vulkan_validation", validation}};
    return make_driver()->open("", watched);
  };
  if (const auto told = open("1"); !told) GTEST_SKIP() << "skipped: " << told.error().message();
  EXPECT_DEATH(break_a_rule(**open("fatal")), "\\[vulkan\\] .*vkCreateCommandPool");
  EXPECT_FAILS(open("2"), StatusCode::kInvalidArgument, "vulkan_validation=0|1|fatal");
}

// What the validation layer says of a command fails it, and no one else hears it.
TEST_F(PreparedCommandsTest, ValidationSpeaksOfTheCommandThatItMeans) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "skipped: under ThreadSanitizer the layer is off";
#endif
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "skipped: under ThreadSanitizer the layer is off";
#endif
#endif
  const auto driver = make_driver();
  const DeviceParameter watched[] = {{"vulkan_validation", "1"}};
  auto opened = driver->open("", watched);
  if (!opened.has_value() && opened.error().code() == StatusCode::kUnavailable) {
    GTEST_SKIP() << "skipped: " << opened.error().message();
  }
  ASSERT_OK(opened);
  const Ref<hal::Device> own = std::move(opened).value();
  const FillLibrary library(*own);
  const auto target = own->allocator().allocate({.length = 16}).value();
  const auto commands = own->make_command_buffer().value();
  EXPECT_OK(commands->begin_custom({.module = "lib", .function = "crooked"}));
  CommandBufferV1 handles;
  EXPECT_OK(commands->extension(kCommandBufferExtension, &handles));
  library.fill(handles, *target, 0, 3, 1);  // No whole word.
  const Status status = commands->end_custom({});
  EXPECT_FAILS(status, StatusCode::kFailedPrecondition, "Vulkan's validation layer says of it: ");
  EXPECT_FAILS(status, StatusCode::kFailedPrecondition, "vkCmdFillBuffer");
  EXPECT_FAILS(status, StatusCode::kFailedPrecondition, "in custom command 'lib.crooked'");
}

// ---- Memory of others -----------------------------------------------------------------------------------------------

// What a driver mapped is not imported as if the host had allocated it; what the host allocated is, where the device can.
TEST_F(PreparedCommandsTest, WhatOtherDriversMappedIsNotImported) {
  const Ref<hal::Device> other = testing_support::open_watched_vulkan().value();
  const auto mapped = buffer(64);
  EXPECT_FAILS(other->allocator().import_peer(*mapped), StatusCode::kUnimplemented, "another driver mapped it");
  const MemoryLocation pinned{MemorySpace::kCudaPinned, 0, reinterpret_cast<uintptr_t>(mapped.get())};
  EXPECT_FAILS(other->allocator().import_memory(pinned, 64, BufferUsage::kAll, {}), StatusCode::kUnimplemented,
               "it reaches only what the host allocated");
}

// ---- Grids ----------------------------------------------------------------------------------------------------------

// A row of workgroups that is longer than the device takes: kernels that say that they can do with any shape get one,
// others are refused with the number.
TEST_F(PreparedCommandsTest, LongRowsAreFolded) {
  constexpr uint32_t kMost = 5;
  const auto driver = make_driver({.workgroups_max = kMost});
  auto opened = driver->open("", {});
  ASSERT_OK(opened);
  const Ref<hal::Device> small = std::move(opened).value();
  // The kernel numbers its workgroups by itself; the note makes it known.
  std::vector<uint32_t> words(sizeof(numbers_groups_spv) / 4);
  std::memcpy(words.data(), numbers_groups_spv, sizeof(numbers_groups_spv));
  const std::string note = std::string(spirv::kFoldsGrid) + "main";
  std::vector<uint32_t> instruction(2 + note.size() / 4);
  std::memcpy(&instruction[1], note.data(), note.size());
  instruction[0] = static_cast<uint32_t>(instruction.size()) << 16 | spirv::kModuleProcessed;
  const std::vector<uint32_t> plain = words;
  size_t at = spirv::kHeaderWords;
  while ((words[at] & 0xffff) != spirv::kDecorate) at += words[at] >> 16;
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), instruction.begin(), instruction.end());
  const auto load_on_small = [&](const std::vector<uint32_t>& code) {
    const ExecutableVariant variants[] = {{"spirv", std::as_bytes(std::span(code))}};
    return small->make_executable({.name = "kernels", .variants = variants}).value();
  };
  const auto folding = load_on_small(words), stiff = load_on_small(plain);
  const auto target = small->allocator()
                          .allocate({.length = 4 * 64, .memory = MemoryKind::kDeviceLocal | MemoryKind::kHostVisible})
                          .value();
  const Binding bindings[] = {target};
  for (const uint32_t count : {1u, 4u, 5u, 6u, 11u, 23u, 25u}) {
    const auto commands = small->make_command_buffer().value();
    EXPECT_OK(commands->fill_buffer({.target = target, .pattern = 0}));
    EXPECT_OK(commands->barrier({}));
    EXPECT_OK(commands->dispatch({.executable = folding.get(), .grid = {count, 1, 1}, .bindings = bindings}));
    const auto done = small->make_semaphore().value();
    const SemaphorePoint signal(done, 1);
    EXPECT_OK(small->queue().execute({.signals = {&signal, 1}}, *commands->finish().value()));
    EXPECT_OK(done->wait(1));
    Words expected(64, 0);
    for (uint32_t i = 0; i < count; ++i) expected[i] = i + 1;
    EXPECT_EQ(words_of(*target), expected) << count;
  }
  const auto commands = small->make_command_buffer().value();
  EXPECT_FAILS(commands->dispatch({.executable = stiff.get(), .grid = {6, 1, 1}, .bindings = bindings}),
               StatusCode::kOutOfRange, "Dispatch grid has 6 workgroups in x; the device takes 5.");
  EXPECT_FAILS(commands->dispatch({.executable = folding.get(), .grid = {6, 2, 1}, .bindings = bindings}),
               StatusCode::kOutOfRange, "Dispatch grid has 6 workgroups in x; the device takes 5.");
  EXPECT_FAILS(commands->dispatch({.executable = folding.get(), .grid = {26, 1, 1}, .bindings = bindings}),
               StatusCode::kOutOfRange, "Dispatch grid has 26 workgroups in x; the device takes 25 in rows of 5.");
  EXPECT_OK(commands->dispatch({.executable = stiff.get(), .grid = {5, 1, 1}, .bindings = bindings}));
}

}  // namespace
}  // namespace baton::hal::drivers::vulkan
