// A test's Vulkan device, watched by the validation layer, and buffers of words on it; without a device the test is skipped.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "hal/allocator.hpp"
#include "hal/device.hpp"
#include "tests/support/status_matchers.hpp"
#include "tests/support/vulkan_validation.hpp"

namespace baton::testing_support {

class WatchedDeviceTest : public testing::Test {
 protected:
  using Words = std::vector<uint32_t>;

  void SetUp() override {
    auto opened = open_watched_vulkan();
    if (!opened.has_value() && opened.error().code() == StatusCode::kUnavailable) {
      GTEST_SKIP() << "skipped: no Vulkan device (" << opened.error().message() << ")";
    }
    ASSERT_OK(opened);
    device_ = std::move(opened).value();
  }

  hal::Device& device() { return *device_; }
  Ref<hal::Buffer> buffer(uint64_t length,
                          hal::MemoryKind memory = hal::MemoryKind::kDeviceLocal | hal::MemoryKind::kHostVisible) {
    return device().allocator().allocate({.length = length, .memory = memory}).value();
  }
  Ref<hal::Buffer> buffer_of(const Words& words) {
    auto made = buffer(words.size() * 4);
    const auto mapping = made->map(hal::Access::kDiscardWrite);
    std::memcpy(mapping->as<uint32_t>().data(), words.data(), words.size() * 4);
    return made;
  }
  static Words words_of(hal::Buffer& buffer) {
    const auto mapping = buffer.map(hal::Access::kRead);
    const auto words = mapping->as<uint32_t>();
    return {words.begin(), words.end()};
  }

  Ref<hal::Device> device_;
};

}  // namespace baton::testing_support
