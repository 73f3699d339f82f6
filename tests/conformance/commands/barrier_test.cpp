// barrier: orders all before it against all after it, or the ranges it names.
#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class BarrierTest : public DeviceTest {};

TEST_P(BarrierTest, OrdersAChainOfCopies) {
  const auto values = buffer_of<uint32_t>({1, 0, 0, 0, 0, 0, 0, 0});
  const auto commands = record();
  for (uint64_t i = 0; i + 1 < 8; ++i) {
    EXPECT_OK(commands->copy_buffer(
        {.source = BufferRange(values.get(), 4 * i, 4), .target = BufferRange(values.get(), 4 * i + 4, 4)}));
    const Binding written[] = {BufferRange(values.get(), 4 * i + 4, 4)};
    EXPECT_OK(commands->barrier({.bindings = written}));
  }
  EXPECT_OK(run(*commands));
  expect_values<uint32_t>(*values, {1, 1, 1, 1, 1, 1, 1, 1});
}

TEST_P(BarrierTest, MayStandAlone) {
  const auto commands = record();
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(run(*commands));
}

TEST_P(BarrierTest, RefusesRangesBeyondTheEnd) {
  const auto values = buffer(16);
  const Binding beyond[] = {BufferRange(values.get(), 8, 16)};
  EXPECT_FAILS(record()->barrier({.bindings = beyond}), StatusCode::kOutOfRange,
               "Barrier range [8, 24) ends beyond the buffer length (16).");
}

BATON_CONFORMANCE(BarrierTest);

}  // namespace
}  // namespace baton::hal::conformance
