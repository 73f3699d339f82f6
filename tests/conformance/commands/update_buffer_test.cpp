// update_buffer: writes bytes that were copied when it was recorded.
#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class UpdateBufferTest : public DeviceTest {};

TEST_P(UpdateBufferTest, WritesWhatTheSourceHeldWhenRecorded) {
  const auto target = buffer_of<uint32_t>({0, 0, 0});
  std::vector<uint32_t> source = {5, 6};
  const auto commands = record();
  EXPECT_OK(
      commands->update_buffer({.source = std::as_bytes(std::span(source)), .target = BufferRange(target.get(), 4, 8)}));
  source = {0, 0};
  EXPECT_OK(run(*commands));
  expect_values<uint32_t>(*target, {0, 5, 6});
}

TEST_P(UpdateBufferTest, TakesAsMuchAsTheDeviceSays) {
  const std::vector<uint8_t> source(device().limits().update_bytes_max, 0x5a);
  const auto target = buffer(source.size());
  const auto commands = record();
  EXPECT_OK(commands->update_buffer({.source = std::as_bytes(std::span(source)), .target = target}));
  EXPECT_OK(run(*commands));
  expect_values(*target, source);
}

TEST_P(UpdateBufferTest, RefusesBadArguments) {
  const std::vector<uint8_t> source(device().limits().update_bytes_max + 1);
  const auto target = buffer(source.size());
  const auto commands = record();
  EXPECT_FAILS(commands->update_buffer({.source = std::as_bytes(std::span(source)), .target = target}),
               StatusCode::kOutOfRange, "exceeds the limit of the device");
  EXPECT_FAILS(commands->update_buffer({.source = std::as_bytes(std::span(source).first(4)), .target = target}),
               StatusCode::kInvalidArgument, "is not as long as the source (4)");
  EXPECT_FAILS(commands->update_buffer({.source = std::as_bytes(std::span(source).first(4)),
                                        .target = BufferRange(target.get(), target->length(), 4)}),
               StatusCode::kOutOfRange, "Update target");
}

BATON_CONFORMANCE(UpdateBufferTest);

}  // namespace
}  // namespace baton::hal::conformance
