// Goal: the device gets the barriers that a recording's work needs, and no others: independent work has none between. Method: random work
// against every pair of it, looked at one by one; and recordings on the machine's first Vulkan device, whose barriers are counted.
#include "hal/drivers/vulkan/work_order.hpp"

#include <gtest/gtest.h>

#include <random>

#include "hal/commands/all.hpp"
#include "hal/drivers/vulkan/device.hpp"
#include "hal/drivers/vulkan/recording.hpp"
#include "hal/queue.hpp"
#include "tests/hal/drivers/vulkan/watched_device.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

constexpr uint32_t kNoGrid = Launch::kDirect;

RecordedBinding slot(uint32_t number, uint64_t offset, uint64_t length, Access access, bool open = false) {
  return {number + RecordedBinding::kSlots, access, open, offset, open ? 0 : length, nullptr};
}

// By the definition: some byte of both, which one of them writes, in memory that may be the same.
bool may_conflict(const RecordedBinding& a, const RecordedBinding& b) {
  if (!has_all(a.access, Access::kWrite) && !has_all(b.access, Access::kWrite)) return false;
  if (a.base != b.base) return a.is_slot() && b.is_slot();
  const auto end = [](const RecordedBinding& one) { return one.open ? ~uint64_t{0} : one.offset + one.length; };
  return a.offset < end(b) && b.offset < end(a);
}

TEST(WorkOrderTest, BarriersAreThoseThatPairsOfWorkNeed) {
  std::mt19937 random(14);
  const auto below = [&](uint32_t most) { return std::uniform_int_distribution<uint32_t>(0, most - 1)(random); };
  constexpr Access kAccesses[] = {Access::kRead, Access::kRead, Access::kWrite, Access::kReadWrite};
  size_t given = 0, left_out = 0;
  for (int recording = 0; recording < 2000; ++recording) {
    const uint32_t slots = 1 + below(3), barrier_of = 1 + below(3);
    struct Launched {
      std::vector<RecordedBinding> bindings;
      int asked = 0, emitted = 0;  // Barriers before it.
    };
    std::vector<Launched> all;
    WorkOrder order;
    int asked = 0, emitted = 0;
    for (int i = 0; i < 12; ++i) {
      if (below(barrier_of) == 0) order.barrier(), ++asked;
      Launched next;
      for (uint32_t binding = 1 + below(2); binding-- > 0;) {
        RecordedBinding made = slot(below(slots), 8 * below(6), 8 * (1 + below(3)), kAccesses[below(4)], below(8) == 0);
        if (below(4) == 0)
          made.base = RecordedBinding::kTable, made.open = false, made.length = std::max<uint64_t>(made.length, 8);
        next.bindings.push_back(made);
      }
      const bool needed = order.needs_barrier(next.bindings, kNoGrid);
      emitted += needed ? 1 : 0;
      next.asked = asked;
      next.emitted = emitted;
      // Needed by somebody behind an asked barrier, since the last one that was given.
      bool expected = false;
      for (const Launched& before : all) {
        if (before.asked == asked || before.emitted != emitted - (needed ? 1 : 0)) continue;
        for (const auto& a : before.bindings) {
          for (const auto& b : next.bindings) expected = expected || may_conflict(a, b);
        }
      }
      ASSERT_EQ(needed, expected) << "recording " << recording << ", launch " << i;
      all.push_back(std::move(next));
    }
    given += static_cast<size_t>(emitted);
    left_out += static_cast<size_t>(asked - emitted);
  }
  EXPECT_GT(given, 1000u);
  EXPECT_GT(left_out, 1000u);
}

// Thousands of ranges that nothing joins are not looked through one by one.
TEST(WorkOrderTest, ManyRangesEndInABarrier) {
  WorkOrder order;
  int needed = 0;
  for (uint32_t i = 0; i < 5000; ++i) {
    const RecordedBinding binding = slot(0, 16 * i, 8, Access::kWrite);
    needed += order.needs_barrier({&binding, 1}, kNoGrid);
    order.barrier();
  }
  EXPECT_GT(needed, 0);
  EXPECT_LT(needed, 50);
  int joined = 0;
  for (uint32_t i = 0; i < 5000; ++i) {
    const RecordedBinding binding = slot(0, 16 * 5000 + 8 * i, 8, Access::kWrite);
    joined += order.needs_barrier({&binding, 1}, kNoGrid);
    order.barrier();
  }
  EXPECT_LE(joined, 1) << "ranges side by side are one";
}

// What the recordings of a test put between their commands; each of its command buffers begins and ends with one.
class CountedBarriersTest : public testing_support::WatchedDeviceTest {
 protected:
  void SetUp() override {
    WatchedDeviceTest::SetUp();
    if (!device_) return;
    symbols_ = const_cast<DeviceSymbols*>(&static_cast<Device&>(device()).context().symbols());
    original_ = symbols_->vkCmdPipelineBarrier;
    symbols_->vkCmdPipelineBarrier = count_barrier;
  }
  void TearDown() override {
    if (symbols_) symbols_->vkCmdPipelineBarrier = original_;
  }
  // Work barriers of the recording that `record` makes, which is executed and gives what it should.
  template <typename Record>
  int barriers(const Record& record, std::span<const BufferRange> table = {}, uint32_t slot_count = 0) {
    const auto commands = device().make_command_buffer({.name = "counted", .slot_count = slot_count}).value();
    record(*commands);
    const auto recording = commands->finish().value();
    counted_ = 0;
    EXPECT_OK(device().queue().execute({}, *recording, {.buffers = table}));
    EXPECT_OK(device().queue().wait_idle());
    return counted_ - 2;
  }

 private:
  static void count_barrier(VkCommandBuffer commands, VkPipelineStageFlags before, VkPipelineStageFlags after,
                            VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier* memory,
                            uint32_t buffer_count, const VkBufferMemoryBarrier* buffers, uint32_t image_count,
                            const VkImageMemoryBarrier* images) {
    ++counted_;
    original_(commands, before, after, flags, memory_count, memory, buffer_count, buffers, image_count, images);
  }
  static inline int counted_ = 0;
  static inline PFN_vkCmdPipelineBarrier original_ = nullptr;
  DeviceSymbols* symbols_ = nullptr;
};

TEST_F(CountedBarriersTest, IndependentWorkHasNone) {
  std::vector<Ref<hal::Buffer>> targets;
  for (int i = 0; i < 10; ++i) targets.push_back(buffer(64));
  const auto source = buffer_of(Words(16, 7));
  EXPECT_EQ(barriers([&](hal::CommandBuffer& commands) {
              for (const auto& target : targets) {
                EXPECT_OK(commands.copy_buffer({.source = Binding(source), .target = Binding(target)}));
                EXPECT_OK(commands.barrier({}));
              }
            }),
            0);
  for (const auto& target : targets) EXPECT_EQ(words_of(*target), Words(16, 7));
  // Parts of one buffer.
  EXPECT_EQ(
      barriers([&](hal::CommandBuffer& commands) {
        for (uint32_t i = 0; i < 8; ++i) {
          EXPECT_OK(commands.fill_buffer({.target = Binding(BufferRange(targets[0].get(), 8 * i, 8)), .pattern = i}));
          EXPECT_OK(commands.barrier({}));
        }
      }),
      0);
  EXPECT_EQ(words_of(*targets[0])[15], 7u);
  EXPECT_EQ(words_of(*targets[0])[8], 4u);
}

TEST_F(CountedBarriersTest, AChainHasOneForEachLink) {
  const auto first = buffer_of(Words(16, 7)), second = buffer(64), third = buffer(64), other = buffer(64);
  EXPECT_EQ(
      barriers([&](hal::CommandBuffer& commands) {
        EXPECT_OK(commands.copy_buffer({.source = Binding(first), .target = Binding(second)}));
        EXPECT_OK(commands.barrier({}));
        EXPECT_OK(commands.fill_buffer({.target = Binding(other), .pattern = 5}));  // Of its own.
        EXPECT_OK(commands.barrier({}));
        EXPECT_OK(commands.copy_buffer({.source = Binding(second), .target = Binding(third)}));  // Read after write.
        EXPECT_OK(commands.barrier({}));
        EXPECT_OK(commands.fill_buffer({.target = Binding(second), .pattern = 9}));  // Write after read.
        EXPECT_OK(commands.barrier({}));
        EXPECT_OK(commands.fill_buffer({.target = Binding(BufferRange(third.get(), 60, 4)),
                                        .pattern = 1}));  // Write after write, one barrier ago.
      }),
      2)
      << "the last one is behind that of the write after the read";
  EXPECT_EQ(words_of(*third)[0], 7u);
  EXPECT_EQ(words_of(*third)[15], 1u);
  EXPECT_EQ(words_of(*second), Words(16, 9));
}

TEST_F(CountedBarriersTest, SlotsMayBeTheSameMemory) {
  const auto fixed = buffer(64), x = buffer_of(Words(16, 3)), y = buffer_of(Words(16, 4));
  const BufferRange table[] = {x, y};
  EXPECT_EQ(
      barriers(
          [&](hal::CommandBuffer& commands) {
            EXPECT_OK(commands.fill_buffer({.target = Binding(Slot{0}, 0, 32), .pattern = 5}));
            EXPECT_OK(commands.barrier({}));
            EXPECT_OK(commands.fill_buffer({.target = Binding(Slot{0}, 32, 32), .pattern = 6}));  // Of the same slot.
          },
          table, 2),
      0);
  EXPECT_EQ(barriers(
                [&](hal::CommandBuffer& commands) {
                  EXPECT_OK(commands.fill_buffer({.target = Binding(Slot{0}, 0, 64), .pattern = 5}));
                  EXPECT_OK(commands.barrier({}));
                  EXPECT_OK(commands.fill_buffer({.target = Binding(Slot{1}, 0, 64), .pattern = 6}));
                  EXPECT_OK(commands.barrier({}));
                  EXPECT_OK(commands.fill_buffer({.target = Binding(fixed), .pattern = 8}));
                },
                table, 2),
            2);
  EXPECT_EQ(words_of(*y), Words(16, 6));
}

TEST_F(CountedBarriersTest, WhereNoneIsAskedForThereIsNone) {
  const auto target = buffer(64);
  EXPECT_EQ(
      barriers([&](hal::CommandBuffer& commands) {
        for (uint32_t i = 0; i < 4; ++i)
          EXPECT_OK(commands.fill_buffer({.target = Binding(BufferRange(target.get(), 16 * i, 16)), .pattern = i}));
      }),
      0);
}

}  // namespace
}  // namespace baton::hal::drivers::vulkan
