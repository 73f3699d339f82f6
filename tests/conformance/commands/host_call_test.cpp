// host_call: the host's code runs in order with the commands around it, once per execution, with its bindings.
#include <atomic>

#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class HostCallTest : public DeviceTest {};

TEST_P(HostCallTest, RunsInOrderWithItsBindings) {
  const auto values = buffer_of<uint32_t>({0, 0});
  const auto function = make_host_function("increment", [](const HostCallArguments& arguments) -> Status {
    auto* words = reinterpret_cast<uint32_t*>(arguments.bindings[0].data());
    for (size_t i = 0; i < arguments.bindings[0].size() / 4; ++i) words[i] += arguments.constants[0];
    return {};
  });
  const Binding bindings[] = {BufferRange(values.get(), 4, 4)};
  const uint32_t constant = 10;
  const auto commands = record();
  EXPECT_OK(commands->fill_buffer({.target = values, .pattern = 5}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->host_call({.function = function.get(), .constants = {&constant, 1}, .bindings = bindings}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(
      commands->copy_buffer({.source = BufferRange(values.get(), 4, 4), .target = BufferRange(values.get(), 0, 4)}));
  EXPECT_OK(run(*commands));
  expect_values<uint32_t>(*values, {15, 15});
}

TEST_P(HostCallTest, GetsTheBuffersOfEachTable) {
  std::atomic<int> calls{0};
  const auto function = make_host_function("write", [&](const HostCallArguments& arguments) -> Status {
    ++calls;
    *reinterpret_cast<uint32_t*>(arguments.bindings[0].data()) = arguments.constants[1];
    return {};
  });
  const Binding bindings[] = {Slot{0}};
  const uint32_t constants[] = {0, 0};
  const ConstantSlot constant_slots[] = {{1, 0}};
  const auto commands = record({.slot_count = 1, .constant_slot_count = 1});
  EXPECT_OK(commands->host_call(
      {.function = function.get(), .constants = constants, .constant_slots = constant_slots, .bindings = bindings}));
  const auto recording = finish(*commands);
  for (uint32_t i = 0; i < 10; ++i) {
    const auto target = buffer_of<uint32_t>({0});
    const BufferRange table[] = {target};
    const uint32_t value = 100 + i;
    EXPECT_OK(run(*recording, {.buffers = table, .constants = {&value, 1}}));
    expect_values<uint32_t>(*target, {value});
  }
  EXPECT_EQ(calls, computes() ? 10 : 0);
}

// What programs allocate between their commands cannot be mapped; drivers copy where the host cannot see it.
TEST_P(HostCallTest, WorksOnWhatKernelsWorkOn) {
  constexpr BufferUsage kTemporary = BufferUsage::kDispatch | BufferUsage::kTransfer;
  const auto function = make_host_function("double", [](const HostCallArguments& arguments) -> Status {
    for (const auto& binding : arguments.bindings) {
      auto* words = reinterpret_cast<uint32_t*>(binding.data());
      for (size_t i = 0; i < binding.size() / 4; ++i) words[i] *= 2;
    }
    return {};
  });
  const auto fixed = buffer(16, kTemporary), brought = buffer(16, kTemporary);
  const auto result = buffer_of<uint32_t>({0, 0});
  const Binding bindings[] = {fixed, Binding(Slot{0}, 0, 16)};
  const auto commands = record({.slot_count = 1});
  EXPECT_OK(commands->fill_buffer({.target = fixed, .pattern = 21}));
  EXPECT_OK(commands->fill_buffer({.target = Binding(Slot{0}, 0, 16), .pattern = 4}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->host_call({.function = function.get(), .bindings = bindings}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(
      commands->copy_buffer({.source = BufferRange(fixed.get(), 12, 4), .target = BufferRange(result.get(), 0, 4)}));
  EXPECT_OK(commands->copy_buffer({.source = Binding(Slot{0}, 12, 4), .target = BufferRange(result.get(), 4, 4)}));
  const BufferRange table[] = {brought};
  EXPECT_OK(run(*commands, {.buffers = table}));
  expect_values<uint32_t>(*result, {42, 8});
}

TEST_P(HostCallTest, AFailureFailsTheWork) {
  if (!computes()) GTEST_SKIP() << "nothing runs, so nothing fails";
  const auto function = make_host_function(
      "refuse", [](const HostCallArguments&) { return failure(StatusCode::kDataLoss, "The disk is full of eels."); });
  const auto commands = record();
  EXPECT_OK(commands->host_call({.function = function.get()}));
  EXPECT_FAILS(run(*commands), StatusCode::kDataLoss, "The disk is full of eels.\n  in host call 'refuse'");
}

TEST_P(HostCallTest, RefusesBadArguments) {
  const auto function = make_host_function("nothing", [](const HostCallArguments&) -> Status { return {}; });
  const auto commands = record();
  EXPECT_FAILS(commands->host_call({}), StatusCode::kInvalidArgument, "A host call needs a function; it has none.");
  const std::vector<uint32_t> many(device().limits().constants_max + 1);
  EXPECT_FAILS(commands->host_call({.function = function.get(), .constants = many}), StatusCode::kInvalidArgument,
               "Host call has 0 bindings and 65 constants");
  const auto small = buffer(4);
  const Binding beyond[] = {BufferRange(small.get(), 0, 8)};
  EXPECT_FAILS(commands->host_call({.function = function.get(), .bindings = beyond}), StatusCode::kOutOfRange,
               "Host call binding [0, 8) ends beyond the buffer length (4).");
}

BATON_CONFORMANCE(HostCallTest);

}  // namespace
}  // namespace baton::hal::conformance
