// copy_buffer: moves exactly its range, in order with barriers, and refuses what does not fit.
#include <numeric>

#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class CopyBufferTest : public DeviceTest {};

TEST_P(CopyBufferTest, CopiesItsRange) {
  const auto source = buffer_of<uint32_t>({1, 2, 3, 4});
  const auto target = buffer_of<uint32_t>({9, 9, 9, 9});
  const auto commands = record();
  EXPECT_OK(
      commands->copy_buffer({.source = BufferRange(source.get(), 4, 8), .target = BufferRange(target.get(), 8, 8)}));
  EXPECT_OK(run(*commands));
  expect_values<uint32_t>(*target, {9, 9, 2, 3});
}

TEST_P(CopyBufferTest, CopiesWithinOneBuffer) {
  const auto both = buffer_of<uint32_t>({1, 2, 3, 4});
  const auto commands = record();
  EXPECT_OK(commands->copy_buffer({.source = BufferRange(both.get(), 0, 8), .target = BufferRange(both.get(), 8, 8)}));
  EXPECT_OK(run(*commands));
  expect_values<uint32_t>(*both, {1, 2, 1, 2});
}

TEST_P(CopyBufferTest, CopiesAfterWhatABarrierOrders) {
  std::vector<uint32_t> values(300'000);
  std::iota(values.begin(), values.end(), 0);
  const auto first = buffer_of(values);
  const auto second = buffer(values.size() * 4);
  const auto third = buffer(values.size() * 4);
  const auto commands = record();
  EXPECT_OK(commands->copy_buffer({.source = first, .target = second}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->copy_buffer({.source = second, .target = third}));
  EXPECT_OK(run(*commands));
  expect_values(*third, values);
}

TEST_P(CopyBufferTest, CopiesThroughSubspans) {
  const auto source = buffer_of<uint32_t>({1, 2, 3, 4});
  const auto target = buffer_of<uint32_t>({0, 0, 0, 0});
  const auto source_part = source->subspan(4, 8).value();
  const auto target_part = target->subspan(8, 8).value();
  const auto commands = record();
  EXPECT_OK(commands->copy_buffer({.source = source_part, .target = target_part}));
  EXPECT_OK(run(*commands));
  expect_values<uint32_t>(*target, {0, 0, 2, 3});
}

TEST_P(CopyBufferTest, RefusesBadArguments) {
  const auto source = buffer(8192);
  const auto target = buffer(8192);
  const auto commands = record({.name = "prefill", .slot_count = 2});
  EXPECT_FAILS(commands->copy_buffer({.source = source, .target = BufferRange(target.get(), 4096, 8192)}),
               StatusCode::kOutOfRange,
               "Copy target [4096, 12288) ends beyond the buffer length (8192).\n"
               "  while recording copy_buffer 0 of command buffer \"prefill\"");
  EXPECT_FAILS(commands->copy_buffer({.source = BufferRange(source.get(), ~uint64_t{0}, 2), .target = target}),
               StatusCode::kOutOfRange, "Copy source");
  EXPECT_FAILS(
      commands->copy_buffer({.source = BufferRange(source.get(), 0, 16), .target = BufferRange(target.get(), 0, 8)}),
      StatusCode::kInvalidArgument, "Copy source (16 bytes) and target (8) have different lengths.");
  EXPECT_FAILS(
      commands->copy_buffer({.source = BufferRange(source.get(), 0, 16), .target = BufferRange(source.get(), 8, 16)}),
      StatusCode::kInvalidArgument, "Copy source [0, 16) and target [8, 24) overlap in the same memory.");
  const auto part = source->subspan(8, 64).value();
  EXPECT_FAILS(
      commands->copy_buffer({.source = BufferRange(source.get(), 0, 16), .target = BufferRange(part.get(), 0, 16)}),
      StatusCode::kInvalidArgument, "overlap in the same memory");
  EXPECT_FAILS(commands->copy_buffer({.source = Binding(Slot{0}, 0, 16), .target = Binding(Slot{0}, 8, 16)}),
               StatusCode::kInvalidArgument, "overlap in the same memory");
  EXPECT_FAILS(commands->copy_buffer({.source = Slot{0}, .target = target}), StatusCode::kInvalidArgument,
               "Copy source in slot 0 has no length; a transfer needs it when it is recorded.");
  EXPECT_FAILS(commands->copy_buffer({.source = buffer(8192, BufferUsage::kDispatch), .target = target}),
               StatusCode::kPermissionDenied, "Copy source needs usage transfer_source");
  EXPECT_FAILS(commands->copy_buffer({.source = source, .target = buffer(8192, BufferUsage::kDispatch)}),
               StatusCode::kPermissionDenied, "Copy target needs usage transfer_target");
}

TEST_P(CopyBufferTest, RefusesBuffersOfOtherDevices) {
  const Ref<Device> other = GetParam()->open().value();
  const auto foreign = other->allocator().allocate({.length = 64}).value();
  const auto own = buffer(64);
  const auto commands = record();
  EXPECT_FAILS(commands->copy_buffer({.source = foreign, .target = own}), StatusCode::kInvalidArgument,
               "Copy source is a buffer of another device, in the memory of ");
}

BATON_CONFORMANCE(CopyBufferTest);

}  // namespace
}  // namespace baton::hal::conformance
