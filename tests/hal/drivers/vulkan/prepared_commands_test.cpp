// Recordings on Vulkan beyond the suite: many in flight with other tables, tables that come back, both interfaces, odd
// sizes, foreign command buffers, and what is refused.
#include "hal/drivers/vulkan/prepared_commands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

#include "by_address_spv.hpp"
#include "by_descriptors_spv.hpp"
#include "hal/commands/all.hpp"
#include "hal/drivers/vulkan/device.hpp"
#include "hal/drivers/vulkan/foreign_extensions.hpp"
#include "hal/slot_table.hpp"
#include "shared_spv.hpp"
#include "tests/support/status_matchers.hpp"
#include "tests/support/vulkan_validation.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

using Words = std::vector<uint32_t>;

class PreparedCommandsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = testing_support::open_watched_vulkan();
    if (!opened.has_value() && opened.error().code() == StatusCode::kUnavailable) {
      GTEST_SKIP() << "skipped: no Vulkan device (" << opened.error().message() << ")";
    }
    ASSERT_OK(opened);
    device_ = std::move(opened).value();
  }

  hal::Device& device() { return *device_; }
  Ref<hal::Buffer> buffer(uint64_t length, MemoryKind memory = MemoryKind::kDeviceLocal | MemoryKind::kHostVisible) {
    return device().allocator().allocate({.length = length, .memory = memory}).value();
  }
  Ref<hal::Buffer> buffer_of(const Words& words) {
    auto made = buffer(words.size() * 4);
    const auto mapping = made->map(Access::kDiscardWrite);
    std::copy(words.begin(), words.end(), mapping->as<uint32_t>().begin());
    return made;
  }
  static Words words_of(hal::Buffer& buffer) {
    const auto mapping = buffer.map(Access::kRead);
    const auto words = mapping->as<uint32_t>();
    return {words.begin(), words.end()};
  }
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

  Ref<hal::Device> device_;
};

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

}  // namespace
}  // namespace baton::hal::drivers::vulkan
