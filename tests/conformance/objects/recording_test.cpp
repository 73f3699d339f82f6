// Recordings: made once, executed many times with other tables, from several threads; tables that do not fit are
// refused.
#include <thread>

#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class RecordingTest : public DeviceTest {
 protected:
  // values *= factor, both from the table.
  Ref<Recording> scale_slot(const Ref<Executable>& executable, uint32_t count) {
    const auto commands = record({.name = "scale", .slot_count = 1, .constant_slot_count = 1});
    const uint32_t constants[] = {count, 0};
    const ConstantSlot constant_slots[] = {{1, 0}};
    const Binding bindings[] = {Binding(Slot{0}, 0, uint64_t{count} * 4)};
    EXPECT_OK(commands->dispatch({.executable = executable.get(),
                                  .entry_point = kScale,
                                  .grid = {(count + 63) / 64, 1, 1},
                                  .constants = constants,
                                  .constant_slots = constant_slots,
                                  .bindings = bindings}));
    return finish(*commands);
  }
};

TEST_P(RecordingTest, ComputesWithEachTable) {
  const auto executable = kernels();
  const auto recording = scale_slot(executable, 100);
  for (uint32_t factor = 1; factor <= 10; ++factor) {
    const auto values = buffer_of(std::vector<uint32_t>(120, 3));
    const BufferRange table[] = {BufferRange(values.get(), 40, 400)};
    EXPECT_OK(run(*recording, {.buffers = table, .constants = {&factor, 1}}));
    std::vector<uint32_t> expected(120, 3);
    for (size_t i = 10; i < 110; ++i) expected[i] = 3 * factor;
    expect_values(*values, expected);
  }
}

TEST_P(RecordingTest, OpenSlotsReachToTheEndOfTheirRange) {
  const auto commands = record({.slot_count = 1});
  std::atomic<size_t> length{0};
  const auto function = make_host_function("length", [&](const HostCallArguments& arguments) -> Status {
    length = arguments.bindings[0].size();
    return {};
  });
  const Binding bindings[] = {Binding(Slot{0}, 8)};
  EXPECT_OK(commands->host_call({.function = function.get(), .bindings = bindings}));
  const auto recording = finish(*commands);
  const auto values = buffer(64);
  for (const uint64_t size : {64u, 32u, 8u}) {
    const BufferRange table[] = {BufferRange(values.get(), 0, size)};
    EXPECT_OK(run(*recording, {.buffers = table}));
    if (computes()) {
      EXPECT_EQ(length, size - 8);
    }
  }
  const BufferRange table[] = {BufferRange(values.get(), 0, 4)};
  EXPECT_FAILS(run(*recording, {.buffers = table}), StatusCode::kOutOfRange,
               "Slot 0 has 4 bytes in the table; its 1 uses need 8.");
}

TEST_P(RecordingTest, RefusesTablesThatDoNotFit) {
  const auto executable = kernels();
  const auto recording = scale_slot(executable, 100);
  const uint32_t factor = 2;
  const auto large = buffer(400), small = buffer(100), unusable = buffer(400, BufferUsage::kTransfer);
  const auto execute = [&](std::span<const BufferRange> buffers, std::span<const uint32_t> constants) {
    return queue().execute({}, *recording, {buffers, constants});
  };
  EXPECT_FAILS(execute({}, {&factor, 1}), StatusCode::kInvalidArgument,
               "Slot 0 is used by the recording; the table has 0 buffers.\n  while executing recording \"scale\"");
  const BufferRange absent[] = {{}};
  EXPECT_FAILS(execute(absent, {&factor, 1}), StatusCode::kInvalidArgument, "Slot 0 has no buffer in the table.");
  const BufferRange short_range[] = {small};
  EXPECT_FAILS(execute(short_range, {&factor, 1}), StatusCode::kOutOfRange, "Slot 0 has 100 bytes in the table");
  const BufferRange beyond[] = {BufferRange(large.get(), 200, 400)};
  EXPECT_FAILS(execute(beyond, {&factor, 1}), StatusCode::kOutOfRange,
               "Slot 0 [200, 600) ends beyond the buffer length (400).");
  const BufferRange wrong_usage[] = {unusable};
  EXPECT_FAILS(execute(wrong_usage, {&factor, 1}), StatusCode::kPermissionDenied,
               "Slot 0 needs usage dispatch_read|dispatch_write; its buffer has transfer_source|transfer_target.");
  const BufferRange good[] = {large};
  EXPECT_FAILS(execute(good, {}), StatusCode::kInvalidArgument,
               "The recording has 1 constant slots; the table has 0 constants.");
  const Ref<Device> other = GetParam()->open().value();
  EXPECT_FAILS(other->queue().execute({}, *recording, {good, {&factor, 1}}), StatusCode::kInvalidArgument,
               "Recording \"scale\" was made for another device.");
  EXPECT_OK(run(*recording, {good, {&factor, 1}}));
}

TEST_P(RecordingTest, KeepsWhatItNamesAlive) {
  const auto target = buffer_of<uint32_t>({0, 0});
  Ref<Recording> recording;
  {
    const auto source = buffer_of<uint32_t>({4, 5});
    const auto commands = record();
    EXPECT_OK(commands->copy_buffer({.source = source, .target = target}));
    recording = finish(*commands);
  }
  EXPECT_OK(run(*recording));
  expect_values<uint32_t>(*target, {4, 5});
}

TEST_P(RecordingTest, RunsOnSeveralThreadsAtOnce) {
  const auto executable = kernels();
  const auto recording = scale_slot(executable, 256);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto values = buffer_of(std::vector<uint32_t>(256, 1));
      const BufferRange table[] = {values};
      const uint32_t factor = t + 2;
      for (int i = 0; i < 5; ++i) EXPECT_OK(run(*recording, {.buffers = table, .constants = {&factor, 1}}));
      expect_values(*values, std::vector<uint32_t>(256, factor * factor * factor * factor * factor));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(RecordingTest, AFinishedCommandBufferTakesNothing) {
  const auto commands = record({.name = "over"});
  EXPECT_OK(commands->finish());
  EXPECT_FAILS(commands->barrier({}), StatusCode::kFailedPrecondition, "Command buffer \"over\" is finished");
  EXPECT_FAILS(commands->finish(), StatusCode::kFailedPrecondition, "Command buffer \"over\" is finished");
}

TEST_P(RecordingTest, TooManySlotsAreRefused) {
  EXPECT_FAILS(device().make_command_buffer({.slot_count = 1025}), StatusCode::kOutOfRange, "at most 1024");
}

BATON_CONFORMANCE(RecordingTest);

}  // namespace
}  // namespace baton::hal::conformance
