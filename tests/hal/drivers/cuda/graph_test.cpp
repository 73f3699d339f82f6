// Graphs on the fake GPU: the shape that recordings get, and which calls a new table costs.
#include "hal/drivers/cuda/graph.hpp"

#include "hal/slot_table.hpp"
#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using testing_support::fail_next;
using testing_support::fake_cuda;

class GraphTest : public testing::Test {
 protected:
  void open(std::string_view mode) {
    device_ = open_fake(mode);
    kernels_ = load_kernels(*device_, kFakeCode);
  }
  // Dispatch i scales slot i.
  Ref<hal::Recording> record(uint32_t dispatches, bool barriers) {
    auto commands =
        device_->make_command_buffer({.name = "scales", .slot_count = dispatches, .constant_slot_count = 1}).value();
    for (uint32_t i = 0; i < dispatches; ++i) {
      const uint32_t constants[] = {2, 0};
      const ConstantSlot slots[] = {{1, 0}};
      const Binding bindings[] = {Binding(Slot{i}, 0, 8)};
      EXPECT_OK(commands->dispatch(
          {.executable = kernels_.get(),
           .entry_point = 0,
           .constants = constants,
           .constant_slots = i == 0 ? std::span<const ConstantSlot>(slots) : std::span<const ConstantSlot>(),
           .bindings = bindings}));
      if (barriers) {
        EXPECT_OK(commands->barrier({}));
      }
    }
    return commands->finish().value();
  }

  Ref<hal::Device> device_;
  Ref<hal::Executable> kernels_;
};

TEST_F(GraphTest, IndependentCommandsHangInLanesBetweenOneRootAndOneJoin) {
  open("graph");
  const auto recording = record(20, false);
  const auto buffer = buffer_of(*device_, {1, 1});
  const std::vector<BufferRange> table(20, buffer);
  const uint32_t factor = 1;
  EXPECT_OK(run(*device_, *recording, {table, {&factor, 1}}));
  EXPECT_EQ(fake_cuda().count("cuGraphAddKernelNode scale after 1"), 20u);
  EXPECT_EQ(fake_cuda().count("cuGraphAddKernelNode baton_nothing after 0"), 1u);
  EXPECT_EQ(fake_cuda().count("cuGraphAddEmptyNode after 8"), 1u);
  EXPECT_EQ(fake_cuda().count("cuGraphInstantiate 22"), 1u);
}

TEST_F(GraphTest, AChainHasNoNodesBesideItsCommands) {
  open("graph");
  const auto recording = record(5, true);
  const auto buffer = buffer_of(*device_, {1, 1});
  const std::vector<BufferRange> table(5, buffer);
  const uint32_t factor = 1;
  EXPECT_OK(run(*device_, *recording, {table, {&factor, 1}}));
  EXPECT_EQ(fake_cuda().count("cuGraphAddKernelNode scale after 0"), 1u);
  EXPECT_EQ(fake_cuda().count("cuGraphAddKernelNode scale after 1"), 4u);
  EXPECT_EQ(fake_cuda().count("cuGraphInstantiate 5"), 1u);
}

TEST_F(GraphTest, ANewTableTouchesOnlyTheNodesOfItsSlots) {
  open("graph");
  const auto recording = record(100, true);
  const auto first = buffer_of(*device_, {1, 1}), second = buffer_of(*device_, {1, 1});
  std::vector<BufferRange> table(100, first);
  uint32_t factor = 1;
  EXPECT_OK(run(*device_, *recording, {table, {&factor, 1}}));
  const auto patches_of = [&] {
    const size_t before = fake_cuda().count("cuGraphExecKernelNodeSetParams");
    EXPECT_OK(run(*device_, *recording, {table, {&factor, 1}}));
    return fake_cuda().count("cuGraphExecKernelNodeSetParams") - before;
  };
  EXPECT_EQ(patches_of(), 0u);
  table[7] = second;
  EXPECT_EQ(patches_of(), 1u);
  EXPECT_EQ(patches_of(), 0u);
  factor = 2;
  table[0] = second;  // The command of the constant, too: it is patched once.
  EXPECT_EQ(patches_of(), 1u);
  std::fill(table.begin(), table.end(), BufferRange(second));
  EXPECT_EQ(patches_of(), 98u);
  EXPECT_EQ(fake_cuda().count("cuGraphInstantiate"), 1u);
  EXPECT_EQ(fake_cuda().count("cuGraphUpload"), 1u);
  // Dispatch 0 alone has factor 2; the others have the constant 0 that was recorded.
  EXPECT_EQ(values_of(*second)[0], 0u);
}

// However much was set meanwhile, and whatever was executed in between.
TEST_F(GraphTest, ATableThatKnowsItsChangesPatchesWhatAPlainOneDoes) {
  open("graph");
  const auto recording = record(100, true), another = record(100, true);
  const auto first = buffer_of(*device_, {1, 1}), second = buffer_of(*device_, {1, 1});
  const uint32_t factor = 1;
  SlotTable table(100), other_table(100);
  for (size_t slot = 0; slot < 100; ++slot) {
    table.set(slot, first);
    other_table.set(slot, first);
  }
  const auto patches_of = [&](hal::Recording& one, const BindingTable& with) {
    const size_t before = fake_cuda().count("cuGraphExecKernelNodeSetParams");
    EXPECT_OK(run(*device_, one, with));
    return fake_cuda().count("cuGraphExecKernelNodeSetParams") - before;
  };
  const auto with_table = [&] { return table.table({&factor, 1}); };
  EXPECT_EQ(patches_of(*recording, with_table()), 0u);
  EXPECT_EQ(patches_of(*recording, with_table()), 0u);
  table.set(7, second);
  table.set(99, second);
  table.set(99, first);
  EXPECT_EQ(patches_of(*recording, with_table()), 1u);
  EXPECT_EQ(patches_of(*another, with_table()), 0u);
  table.set(8, second);
  EXPECT_EQ(patches_of(*another, with_table()), 1u);
  EXPECT_EQ(patches_of(*recording, other_table.table({&factor, 1})), 1u);
  EXPECT_EQ(patches_of(*recording, with_table()), 2u);
  const std::vector<BufferRange> plain(100, first);
  EXPECT_EQ(patches_of(*recording, {plain, {&factor, 1}}), 2u);
  for (size_t i = 0; i < 1000; ++i) table.set(i % 50, first);
  table.set(60, second);
  EXPECT_EQ(patches_of(*recording, with_table()), 1u);
  EXPECT_EQ(fake_cuda().count("cuGraphInstantiate"), 2u);
}

// What is compared with the last table is checked as if it were looked at anew.
TEST_F(GraphTest, ATableThatStaysIsRefusedOnceABufferOfItIsFreed) {
  open("graph");
  const auto recording = record(100, true);
  const auto first = buffer_of(*device_, {1, 1}), second = buffer_of(*device_, {1, 1});
  std::vector<BufferRange> table(100, first);
  table[50] = second;
  const uint32_t factor = 1;
  EXPECT_OK(run(*device_, *recording, {table, {&factor, 1}}));
  EXPECT_OK(device_->queue().free({}, *second));
  EXPECT_FAILS(run(*device_, *recording, {table, {&factor, 1}}), StatusCode::kFailedPrecondition,
               "Slot 50 is a buffer that was freed.\n  while executing recording \"scales\"");
  table[50] = first;
  EXPECT_OK(run(*device_, *recording, {table, {&factor, 1}}));
}

TEST_F(GraphTest, ATableThatIsRefusedLeavesTheLastOne) {
  open("graph");
  const auto recording = record(100, true);
  const auto good = buffer_of(*device_, {1, 1}), other = buffer_of(*device_, {1, 1}), small = buffer_of(*device_, {1});
  std::vector<BufferRange> table(100, good);
  const uint32_t factor = 1;
  EXPECT_OK(run(*device_, *recording, {table, {&factor, 1}}));
  table[3] = other;
  table[70] = small;
  EXPECT_FAILS(run(*device_, *recording, {table, {&factor, 1}}), StatusCode::kOutOfRange,
               "Slot 70 has 4 bytes in the table; its 1 uses need 8.");
  EXPECT_FAILS(run(*device_, *recording, {std::span(table).first(90), {&factor, 1}}), StatusCode::kOutOfRange,
               "Slot 70 has 4 bytes");
  table[70] = good;
  EXPECT_FAILS(run(*device_, *recording, {std::span(table).first(90), {&factor, 1}}), StatusCode::kInvalidArgument,
               "Slot 90 is used by the recording; the table has 90 buffers.");
  EXPECT_FAILS(run(*device_, *recording, {.buffers = table}), StatusCode::kInvalidArgument,
               "The recording has 1 constant slots; the table has 0 constants.");
  const size_t before = fake_cuda().count("cuGraphExecKernelNodeSetParams");
  EXPECT_OK(run(*device_, *recording, {table, {&factor, 1}}));
  EXPECT_EQ(fake_cuda().count("cuGraphExecKernelNodeSetParams") - before, 1u);
}

// A new buffer where an old one was is another buffer, and what a table named goes with the recording at the latest.
TEST_F(GraphTest, BuffersOfATableAreKeptAndLetGoOf) {
  open("graph");
  auto recording = record(3, true);
  const auto keep = buffer_of(*device_, {1, 1});
  const hal::Allocator& allocator = device_->allocator();
  const uint64_t before = allocator.memory_use().live_bytes;
  const uint32_t factor = 1;
  for (uint32_t i = 0; i < 20; ++i) {
    const auto fresh = buffer_of(*device_, {i, i});
    const std::vector<BufferRange> table = {keep, fresh, keep};
    const uint32_t twice = 2;
    EXPECT_OK(run(*device_, *recording, {table, {i % 2 ? &factor : &twice, 1}}));
    EXPECT_EQ(values_of(*fresh), (std::vector<uint32_t>{0, 0}));  // Dispatch 1 scales by the constant 0.
  }
  recording = nullptr;
  EXPECT_OK(device_->queue().wait_idle());
  EXPECT_EQ(allocator.memory_use().live_bytes, before);
}

TEST_F(GraphTest, APatchThatIsRefusedMakesTheGraphAnew) {
  open("graph");
  const auto recording = record(3, true);
  const auto first = buffer_of(*device_, {1, 1}), second = buffer_of(*device_, {5, 5});
  std::vector<BufferRange> table(3, first);
  uint32_t factor = 1;
  EXPECT_OK(run(*device_, *recording, {table, {&factor, 1}}));
  table[0] = second;
  factor = 3;
  fail_next("cuGraphExecKernelNodeSetParams", CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(run(*device_, *recording, {table, {&factor, 1}}));
  EXPECT_EQ(fake_cuda().count("cuGraphInstantiate"), 2u);
  EXPECT_EQ(values_of(*second), (std::vector<uint32_t>{15, 15}));
}

TEST_F(GraphTest, AutoUsesAStreamOnceAndThenAGraph) {
  open("auto");
  const auto recording = record(1, false);
  const auto buffer = buffer_of(*device_, {1, 1});
  const BufferRange table[] = {buffer};
  const uint32_t factor = 2;
  for (int i = 0; i < 3; ++i) EXPECT_OK(run(*device_, *recording, {table, {&factor, 1}}));
  EXPECT_EQ(fake_cuda().count("cuLaunchKernel scale"), 1u);
  EXPECT_EQ(fake_cuda().count("cuGraphLaunch"), 2u);
  EXPECT_EQ(values_of(*buffer), (std::vector<uint32_t>{8, 8}));
}

TEST_F(GraphTest, CopiesFillsAndUpdatesArePatchedToo) {
  open("graph");
  auto commands = device_->make_command_buffer({.name = "transfers", .slot_count = 2}).value();
  const uint32_t words[] = {7, 8};
  EXPECT_OK(commands->fill_buffer({.target = Binding(Slot{0}, 0, 4), .pattern = 3}));
  EXPECT_OK(commands->update_buffer({.source = std::as_bytes(std::span(words)), .target = Binding(Slot{0}, 4, 8)}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->copy_buffer({.source = Binding(Slot{0}, 0, 12), .target = Binding(Slot{1}, 0, 12)}));
  const auto recording = commands->finish().value();
  for (int i = 0; i < 3; ++i) {
    const auto source = buffer_of(*device_, {0, 0, 0}), target = buffer_of(*device_, {0, 0, 0});
    const BufferRange table[] = {source, target};
    EXPECT_OK(run(*device_, *recording, {.buffers = table}));
    EXPECT_EQ(values_of(*target), (std::vector<uint32_t>{3, 7, 8}));
  }
  EXPECT_EQ(fake_cuda().count("cuGraphInstantiate"), 1u);
}

TEST_F(GraphTest, AnExecutionWithoutSignalsRecordsNoEvent) {
  open("graph");
  const auto recording = record(1, false);
  const auto buffer = buffer_of(*device_, {1, 1});
  const BufferRange table[] = {buffer};
  const uint32_t factor = 2;
  EXPECT_OK(run(*device_, *recording, {table, {&factor, 1}}));
  const size_t events = fake_cuda().count("cuEventRecord");
  for (int i = 0; i < 5; ++i) EXPECT_OK(device_->queue().execute({}, *recording, {table, {&factor, 1}}));
  EXPECT_LE(fake_cuda().count("cuEventRecord"), events + 1);  // The worker may close one to let go of what was kept.
  EXPECT_OK(device_->queue().wait_idle());
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
