// Uploads: the host's bytes in new buffers, behind one fence, whatever memory the device has.
#include "hal/uploads.hpp"

#include <numeric>

#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class UploadsTest : public DeviceTest {
 protected:
  // What is in `uploaded` at `ready`, which may be null.
  void expect_bytes(Buffer& uploaded, const Fence* ready, const std::vector<uint8_t>& bytes) {
    const auto seen = buffer(bytes.size());
    const auto done = semaphore();
    const SemaphorePoint point(done, 1);
    const Order order{ready ? ready->points() : std::span<const SemaphorePoint>(), {&point, 1}};
    ASSERT_OK(queue().copy_buffer(order, {.source = uploaded, .target = seen}));
    ASSERT_OK(done->wait(1));
    expect_values(*seen, bytes);
  }
};

std::vector<uint8_t> counted(size_t count, uint8_t first) {
  std::vector<uint8_t> bytes(count);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

TEST_P(UploadsTest, SeveralComeByOneFenceAndTheBytesAreTheCallersAgain) {
  constexpr size_t kSizes[] = {1, 4, 1000, 65536, 65537, 3'000'000};
  Uploads uploads(device());
  std::vector<Ref<Buffer>> buffers;
  for (size_t i = 0; i < std::size(kSizes); ++i) {
    std::vector<uint8_t> bytes = counted(kSizes[i], static_cast<uint8_t>(i));
    auto made = uploads.add(std::as_bytes(std::span(bytes)));
    ASSERT_OK(made);
    std::fill(bytes.begin(), bytes.end(), uint8_t{0xee});
    buffers.push_back(*std::move(made));
    EXPECT_EQ(buffers.back()->length(), kSizes[i]);
  }
  const auto ready = uploads.begin();
  ASSERT_OK(ready);
  EXPECT_TRUE(uploads.empty());
  for (size_t i = 0; i < buffers.size(); ++i) {
    expect_bytes(*buffers[i], ready->get(), counted(kSizes[i], static_cast<uint8_t>(i)));
  }
}

TEST_P(UploadsTest, WhatIsNotBegunLeavesNothingBehind) {
  const std::vector<uint8_t> bytes = counted(5000, 3);
  {
    Uploads dropped(device());
    ASSERT_OK(dropped.add(std::as_bytes(std::span(bytes))));
  }
  Uploads uploads(device());
  ASSERT_OK(uploads.finish());
  EXPECT_EQ(uploads.begin().value().get(), nullptr);
  const auto empty = uploads.add(std::span<const std::byte>());
  ASSERT_OK(empty);
  EXPECT_TRUE(uploads.empty());
  const auto made = uploads.add(std::as_bytes(std::span(bytes)));
  ASSERT_OK(made);
  ASSERT_OK(uploads.finish());
  expect_bytes(**made, nullptr, bytes);
}

TEST_P(UploadsTest, ATensorHasAsManyBytesAsItsShapeSays) {
  const std::vector<uint8_t> bytes = counted(28, 1);
  const auto elements = std::as_bytes(std::span(bytes));
  constexpr int64_t kShape[] = {2, 3};
  Uploads uploads(device());
  const auto view = uploads.add(ElementType::kF32, kShape, elements.first(24));
  ASSERT_OK(view);
  EXPECT_EQ((*view)->type_text(), "2x3xf32");
  EXPECT_FAILS(uploads.add(ElementType::kF32, kShape, elements), StatusCode::kInvalidArgument,
               "A tensor 2x3xf32 takes 24 bytes; 28 are given.");
  EXPECT_FAILS(uploads.add(ElementType::kF32, kShape, elements.first(20)), StatusCode::kInvalidArgument,
               "A tensor 2x3xf32 takes 24 bytes; 20 are given.");
  ASSERT_OK(uploads.finish());
  expect_bytes(*(*view)->buffer(), nullptr, counted(24, 1));
}

BATON_CONFORMANCE(UploadsTest);

}  // namespace
}  // namespace baton::hal::conformance
