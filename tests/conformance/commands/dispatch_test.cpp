// dispatch: every workgroup runs once, with the constants, bindings and local memory of its dispatch.
#include <numeric>

#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class DispatchTest : public DeviceTest {};

TEST_P(DispatchTest, AddsBuffers) {
  const uint32_t count = 1000;
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  const auto a = buffer_of(values);
  const auto b = buffer_of(values);
  const auto target = buffer(count * 4);
  const auto executable = kernels();
  const Binding bindings[] = {{a, Access::kRead}, {b, Access::kRead}, {target, Access::kWrite}};
  const auto commands = record();
  EXPECT_OK(commands->dispatch({.executable = executable.get(),
                                .entry_point = kAdd,
                                .grid = {16, 1, 1},
                                .constants = {&count, 1},
                                .bindings = bindings}));
  EXPECT_OK(run(*commands));
  for (uint32_t& value : values) value *= 2;
  expect_values(*target, values);
}

TEST_P(DispatchTest, RunsEachWorkgroupOfTheGrid) {
  const auto target = buffer(4 * 3 * 5 * 7);
  const auto executable = kernels();
  const Binding bindings[] = {target};
  const auto commands = record();
  EXPECT_OK(commands->dispatch(
      {.executable = executable.get(), .entry_point = kWriteIds, .grid = {3, 5, 7}, .bindings = bindings}));
  EXPECT_OK(run(*commands));
  std::vector<uint32_t> ids;
  for (uint32_t z = 0; z < 7; ++z)
    for (uint32_t y = 0; y < 5; ++y)
      for (uint32_t x = 0; x < 3; ++x) ids.push_back(x + 100 * y + 10000 * z);
  expect_values(*target, ids);
}

TEST_P(DispatchTest, AnEmptyGridRunsNothing) {
  const auto target = buffer_of<uint32_t>({42});
  const auto executable = kernels();
  const Binding bindings[] = {target};
  const auto commands = record();
  EXPECT_OK(commands->dispatch(
      {.executable = executable.get(), .entry_point = kWriteIds, .grid = {0, 1, 1}, .bindings = bindings}));
  EXPECT_OK(run(*commands));
  expect_values<uint32_t>(*target, {42});
}

TEST_P(DispatchTest, GivesEachWorkgroupLocalMemory) {
  std::vector<uint32_t> values(16 * 50);
  std::iota(values.begin(), values.end(), 0);
  const auto source = buffer_of(values);
  const auto target = buffer(50 * 4);
  const auto executable = kernels();
  const Binding bindings[] = {{source, Access::kRead}, {target, Access::kWrite}};
  const auto commands = record();
  EXPECT_OK(commands->dispatch(
      {.executable = executable.get(), .entry_point = kLocalSum, .grid = {50, 1, 1}, .bindings = bindings}));
  EXPECT_OK(run(*commands));
  std::vector<uint32_t> sums;
  for (uint32_t i = 0; i < 50; ++i) sums.push_back(16 * 16 * i + 120);
  expect_values(*target, sums);
}

TEST_P(DispatchTest, RunsInOrderAcrossBarriers) {
  const auto values = buffer_of<uint32_t>(std::vector<uint32_t>(256, 1));
  const auto executable = kernels();
  const Binding bindings[] = {values};
  const uint32_t constants[] = {256, 3};
  const auto commands = record();
  for (int i = 0; i < 10; ++i) {
    EXPECT_OK(commands->dispatch({.executable = executable.get(),
                                  .entry_point = kScale,
                                  .grid = {4, 1, 1},
                                  .constants = constants,
                                  .bindings = bindings}));
    EXPECT_OK(commands->barrier({}));
  }
  EXPECT_OK(run(*commands));
  expect_values(*values, std::vector<uint32_t>(256, 59049));
}

TEST_P(DispatchTest, AFailingKernelFailsTheWorkAndNotTheDevice) {
  if (!computes()) GTEST_SKIP() << "nothing runs, so nothing fails";
  const auto any = buffer_of<uint32_t>({0, 0});
  const auto executable = kernels();
  const Binding bindings[] = {any};
  const auto commands = record();
  EXPECT_OK(commands->dispatch(
      {.executable = executable.get(), .entry_point = kFail, .grid = {4, 1, 1}, .bindings = bindings}));
  EXPECT_FAILS(run(*commands), StatusCode::kInternal,
               "Kernel 'fail' of executable 'kernels' returned 7 in workgroup (1, 0, 0).");
  const auto again = record();
  EXPECT_OK(again->fill_buffer({.target = any, .pattern = 5}));
  EXPECT_OK(run(*again));
  expect_values<uint32_t>(*any, {5, 5});
}

TEST_P(DispatchTest, RefusesBadArguments) {
  const auto target = buffer(1024);
  const auto executable = kernels();
  const Binding bindings[] = {target};
  const uint32_t constant = 0;
  const auto commands = record({.name = "bad", .slot_count = 0, .constant_slot_count = 1});
  const auto dispatch = [&](commands::Dispatch command) {
    command.bindings = bindings;
    return commands->dispatch(command);
  };
  EXPECT_FAILS(dispatch({}), StatusCode::kInvalidArgument, "A dispatch needs an executable; it has none.");
  EXPECT_FAILS(dispatch({.executable = executable.get(), .entry_point = 99}), StatusCode::kOutOfRange,
               "entry point 99 does not exist.");
  EXPECT_FAILS(dispatch({.executable = executable.get(), .entry_point = kWriteIds, .constants = {&constant, 1}}),
               StatusCode::kInvalidArgument, "Entry point 'write_ids' takes 0 constants; 1 given.");
  EXPECT_FAILS(dispatch({.executable = executable.get(), .entry_point = kLocalSum}), StatusCode::kInvalidArgument,
               "Entry point 'local_sum' takes 2 bindings; 1 given.");
  for (int axis = 0; axis < 3; ++axis) {
    const uint32_t most = device().limits().grid_max[axis];
    commands::Dispatch large{.executable = executable.get(), .entry_point = kWriteIds};
    large.grid[axis] = most + 1;
    EXPECT_FAILS(
        dispatch(large), StatusCode::kOutOfRange,
        text("Dispatch grid has ", most + 1, " workgroups in ", "xyz"[axis], "; the device takes ", most, "."));
  }
  const uint32_t constants[] = {1, 1};
  const ConstantSlot bad_constant[] = {{2, 0}};
  EXPECT_FAILS(dispatch({.executable = executable.get(),
                         .entry_point = kScale,
                         .constants = constants,
                         .constant_slots = bad_constant}),
               StatusCode::kOutOfRange, "Constant slot 0 fills constant 2; the command has 2 constants.");
  const ConstantSlot bad_slot[] = {{1, 1}};
  EXPECT_FAILS(
      dispatch(
          {.executable = executable.get(), .entry_point = kScale, .constants = constants, .constant_slots = bad_slot}),
      StatusCode::kOutOfRange, "Constant 1 names constant slot 1; the recording has 1 constant slots.");
  const Binding beyond_end[] = {BufferRange(target.get(), 1000, 100)};
  EXPECT_FAILS(commands->dispatch({.executable = executable.get(), .entry_point = kWriteIds, .bindings = beyond_end}),
               StatusCode::kOutOfRange,
               "Dispatch binding [1000, 1100) ends beyond the buffer length (1024).\n"
               "  in binding 0 of entry point 'write_ids'\n"
               "  while recording dispatch 0 of command buffer \"bad\"");
  const Ref<Device> other = GetParam()->open().value();
  const auto foreign = other->make_executable({.name = "foreign", .variants = GetParam()->kernels}).value();
  EXPECT_FAILS(dispatch({.executable = foreign.get(), .entry_point = kWriteIds}), StatusCode::kInvalidArgument,
               "Executable 'foreign' was loaded for another device.");
}

BATON_CONFORMANCE(DispatchTest);

}  // namespace
}  // namespace baton::hal::conformance
