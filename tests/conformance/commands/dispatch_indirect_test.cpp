// dispatch_indirect: the grid comes from memory, as it is when the dispatch runs.
#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class DispatchIndirectTest : public DeviceTest {
 protected:
  commands::DispatchIndirect write_ids(const Ref<Executable>& executable, std::span<const Binding> bindings,
                                       Binding grid) {
    return {.executable = executable.get(), .entry_point = kWriteIds, .grid = grid, .bindings = bindings};
  }
};

TEST_P(DispatchIndirectTest, ReadsTheGridThatEarlierCommandsWrote) {
  const auto grid = buffer_of<uint32_t>({0, 0, 0, 0});
  const auto target = buffer_of<uint32_t>({9, 9, 9, 9});
  const auto executable = kernels();
  const Binding bindings[] = {target};
  const uint32_t counts[] = {3, 1, 1};
  const auto commands = record();
  EXPECT_OK(
      commands->update_buffer({.source = std::as_bytes(std::span(counts)), .target = BufferRange(grid.get(), 4, 12)}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->dispatch_indirect(write_ids(executable, bindings, BufferRange(grid.get(), 4, 12))));
  EXPECT_OK(run(*commands));
  expect_values<uint32_t>(*target, {0, 1, 2, 9});
}

TEST_P(DispatchIndirectTest, TakesItsGridFromASlot) {
  const auto one = buffer_of<uint32_t>({1, 1, 1});
  const auto none = buffer_of<uint32_t>({0, 1, 1});
  const auto target = buffer_of<uint32_t>({9, 9});
  const auto executable = kernels();
  const Binding bindings[] = {target};
  const auto commands = record({.slot_count = 1});
  EXPECT_OK(commands->dispatch_indirect(write_ids(executable, bindings, Binding(Slot{0}, 0, 12))));
  const auto recording = finish(*commands);
  const BufferRange empty_table[] = {none};
  EXPECT_OK(run(*recording, {.buffers = empty_table}));
  expect_values<uint32_t>(*target, {9, 9});
  const BufferRange table[] = {one};
  EXPECT_OK(run(*recording, {.buffers = table}));
  expect_values<uint32_t>(*target, {0, 9});
}

TEST_P(DispatchIndirectTest, AGridBeyondTheLimitsFailsTheWork) {
  if (!computes()) GTEST_SKIP() << "nothing runs, so nobody reads the grid";
  const auto grid = buffer_of<uint32_t>({1, 0x100000, 1});
  const auto target = buffer(4);
  const auto executable = kernels();
  const Binding bindings[] = {target};
  const auto commands = record();
  EXPECT_OK(commands->dispatch_indirect(write_ids(executable, bindings, grid)));
  EXPECT_FAILS(run(*commands), StatusCode::kOutOfRange, "Indirect dispatch grid has 1048576 workgroups in y");
}

TEST_P(DispatchIndirectTest, RefusesBadGrids) {
  const auto grid = buffer(64);
  const auto target = buffer(4);
  const auto executable = kernels();
  const Binding bindings[] = {target};
  const auto commands = record();
  EXPECT_FAILS(commands->dispatch_indirect(write_ids(executable, bindings, BufferRange(grid.get(), 0, 8))),
               StatusCode::kInvalidArgument, "Indirect grid has 8 bytes; it must have 12.");
  EXPECT_FAILS(commands->dispatch_indirect(write_ids(executable, bindings, BufferRange(grid.get(), 2, 12))),
               StatusCode::kInvalidArgument, "Indirect grid offset (2) is not a multiple of 4.");
  EXPECT_FAILS(commands->dispatch_indirect(write_ids(executable, bindings, BufferRange(grid.get(), 60, 12))),
               StatusCode::kOutOfRange, "Indirect grid [60, 72) ends beyond the buffer length (64).");
  const auto unusable = buffer(64, BufferUsage::kTransfer);
  EXPECT_FAILS(commands->dispatch_indirect(write_ids(executable, bindings, BufferRange(unusable.get(), 0, 12))),
               StatusCode::kPermissionDenied, "Indirect grid needs usage indirect_grid");
}

BATON_CONFORMANCE(DispatchIndirectTest);

}  // namespace
}  // namespace baton::hal::conformance
