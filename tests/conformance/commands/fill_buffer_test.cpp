// fill_buffer: repeats patterns of every size over exactly its range, and refuses what does not fit.
#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class FillBufferTest : public DeviceTest {};

TEST_P(FillBufferTest, RepeatsPatternsOfEverySize) {
  const auto target = buffer_of<uint8_t>(std::vector<uint8_t>(64, 0xee));
  const auto commands = record();
  EXPECT_OK(commands->fill_buffer({.target = BufferRange(target.get(), 1, 3), .pattern = 0x11, .pattern_bytes = 1}));
  EXPECT_OK(commands->fill_buffer({.target = BufferRange(target.get(), 6, 4), .pattern = 0x2221, .pattern_bytes = 2}));
  EXPECT_OK(
      commands->fill_buffer({.target = BufferRange(target.get(), 12, 4), .pattern = 0x34333231, .pattern_bytes = 4}));
  EXPECT_OK(commands->fill_buffer(
      {.target = BufferRange(target.get(), 16, 8), .pattern = 0x4847464544434241, .pattern_bytes = 8}));
  EXPECT_OK(run(*commands));
  expect_values<uint8_t>(*target, {0xee, 0x11, 0x11, 0x11, 0xee, 0xee, 0x21, 0x22, 0x21, 0x22, 0xee, 0xee, 0x31,
                                   0x32, 0x33, 0x34, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0xee});
}

TEST_P(FillBufferTest, FillsMoreThanOneTile) {
  const uint64_t count = 3 * 256 * 1024 / 4 + 5;
  const auto target = buffer(count * 4);
  const auto commands = record();
  EXPECT_OK(commands->fill_buffer({.target = target, .pattern = 7}));
  EXPECT_OK(run(*commands));
  expect_values<uint32_t>(*target, std::vector<uint32_t>(count, 7));
}

TEST_P(FillBufferTest, FillsNothing) {
  const auto target = buffer_of<uint32_t>({1});
  const auto commands = record();
  EXPECT_OK(commands->fill_buffer({.target = BufferRange(target.get(), 4, 0), .pattern = 7}));
  EXPECT_OK(run(*commands));
  expect_values<uint32_t>(*target, {1});
}

TEST_P(FillBufferTest, RefusesBadArguments) {
  const auto target = buffer(64);
  const auto commands = record({.name = "bad", .slot_count = 1});
  EXPECT_FAILS(commands->fill_buffer({.target = BufferRange(target.get(), 32, 64)}), StatusCode::kOutOfRange,
               "Fill target [32, 96) ends beyond the buffer length (64).\n"
               "  while recording fill_buffer 0 of command buffer \"bad\"");
  EXPECT_FAILS(commands->fill_buffer({.target = target, .pattern = 0, .pattern_bytes = 3}),
               StatusCode::kInvalidArgument, "Fill pattern has 3 bytes; it must have 1, 2, 4 or 8.");
  EXPECT_FAILS(commands->fill_buffer({.target = target, .pattern = 0, .pattern_bytes = 0}),
               StatusCode::kInvalidArgument, "Fill pattern has 0 bytes");
  EXPECT_FAILS(commands->fill_buffer({.target = BufferRange(target.get(), 2, 8)}), StatusCode::kInvalidArgument,
               "Fill target offset (2) is not a multiple of 4.");
  EXPECT_FAILS(commands->fill_buffer({.target = BufferRange(target.get(), 0, 6)}), StatusCode::kInvalidArgument,
               "Fill target length (6) is not a multiple of 4.");
  EXPECT_FAILS(commands->fill_buffer({.target = Slot{1}}), StatusCode::kInvalidArgument, "has no length");
  EXPECT_FAILS(commands->fill_buffer({.target = Binding(Slot{1}, 0, 4)}), StatusCode::kOutOfRange,
               "Fill target names slot 1; the recording has 1 slots.");
  EXPECT_FAILS(commands->fill_buffer({.target = Binding(Slot{0}, 8, ~uint64_t{7})}), StatusCode::kOutOfRange,
               "together exceed 64 bits");
  EXPECT_FAILS(commands->fill_buffer({.target = buffer(64, BufferUsage::kTransferSource)}),
               StatusCode::kPermissionDenied,
               "Fill target needs usage transfer_target; the buffer has transfer_source.");
  // What was refused left no trace: the recording goes on.
  EXPECT_OK(commands->fill_buffer({.target = target, .pattern = 3}));
  EXPECT_OK(run(*commands));
  expect_values<uint32_t>(*target, std::vector<uint32_t>(16, 3));
}

BATON_CONFORMANCE(FillBufferTest);

}  // namespace
}  // namespace baton::hal::conformance
