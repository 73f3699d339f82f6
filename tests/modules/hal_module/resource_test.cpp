// Slot, buffer, offset and length become a binding, or a sentence.
#include "modules/hal_module/resource.hpp"

#include <gtest/gtest.h>

#include "hal/allocator.hpp"
#include "tests/modules/hal_module/device_program.hpp"

namespace baton::modules {
namespace {

using hal::Access;

hal::Binding binding_for(const Resource& resource) {
  hal::Binding binding;
  EXPECT_OK(to_binding(resource, binding));
  return binding;
}

TEST(ResourceTest, ASlotKeepsItsIndexAndItsAccess) {
  constexpr int64_t kReads = int64_t{1} << 32, kWrites = int64_t{2} << 32;
  EXPECT_EQ(binding_for({7, nullptr, 4, 8}).slot, 7u);
  EXPECT_EQ(binding_for({7, nullptr, 4, 8}).access, Access::kReadWrite);
  EXPECT_EQ(binding_for({kReads | 7, nullptr, 4, 8}).slot, 7u);
  EXPECT_EQ(binding_for({kReads | 7, nullptr, 4, 8}).access, Access::kRead);
  EXPECT_EQ(binding_for({kWrites, nullptr, 4, 8}).access, Access::kWrite);
  EXPECT_TRUE(binding_for({0, nullptr, 4, -1}).is_open());
}

TEST(ResourceTest, ABufferIsBoundAsFarAsItReaches) {
  const auto device = open_device("local-sync");
  const auto buffer = *device->allocator().allocate({.length = 16});
  EXPECT_EQ(binding_for({0, buffer.get(), 4, -1}).length, 12u);
  EXPECT_EQ(binding_for({0, buffer.get(), 20, -1}).length, 0u);  // Refused by the command that takes it.
  EXPECT_EQ(binding_for({0, buffer.get(), 4, 8}).length, 8u);
  EXPECT_EQ(binding_for({99, buffer.get(), 0, 4}).buffer, buffer.get());
  EXPECT_EQ(binding_for({0, buffer.get(), 0, 4}).access, Access::kReadWrite);
}

TEST(ResourceTest, WhatMayNotBeWrittenIsRead) {
  const auto device = open_device("local-sync");
  const auto constant = *device->allocator().allocate({.length = 16, .usage = hal::BufferUsage::kDispatchRead});
  EXPECT_EQ(binding_for({0, constant.get(), 0, -1}).access, Access::kRead);
}

TEST(ResourceTest, NumbersOutOfRangeAreRefused) {
  hal::Binding binding;
  EXPECT_FAILS(to_binding({-1, nullptr, 0, 4}, binding), StatusCode::kInvalidArgument, "has slot -1");
  EXPECT_FAILS(to_binding({int64_t{4} << 32, nullptr, 0, 4}, binding), StatusCode::kInvalidArgument, "below 2^32");
  EXPECT_FAILS(to_binding({0, nullptr, -1, 4}, binding), StatusCode::kOutOfRange, "offset -1 and length 4");
  EXPECT_FAILS(to_binding({0, nullptr, 0, -2}, binding), StatusCode::kOutOfRange, "offset 0 and length -2");
}

}  // namespace
}  // namespace baton::modules
