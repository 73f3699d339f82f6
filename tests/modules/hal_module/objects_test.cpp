// HAL objects go into a program's references and come out again as what they were.
#include "modules/hal_module/objects.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "hal/allocator.hpp"
#include "modules/host_table.hpp"
#include "tests/modules/hal_module/device_program.hpp"

namespace baton::modules {
namespace {

class ObjectsTest : public testing::Test {
 protected:
  ObjectsTest() { sdk::bind_host(&host_table()); }

  Ref<hal::Fence> make_fence() const { return hal::Fence::at(**device->make_semaphore(0), 1); }

  Ref<hal::Device> device = open_device("local-sync");
};

TEST_F(ObjectsTest, WhatIsWrappedUnwraps) {
  auto buffer = device->allocator().allocate({.length = 8});
  const auto handle = wrap(*buffer);
  EXPECT_STREQ(handle->type->name, "hal.buffer");
  EXPECT_EQ(unwrap<hal::Buffer>(handle.get()), buffer->get());
  EXPECT_EQ(unwrap<hal::Device>(handle.get()), nullptr);
  EXPECT_EQ(unwrap<hal::Buffer>(nullptr), nullptr);
  EXPECT_FALSE(wrap(Ref<hal::Buffer>()));
}

TEST_F(ObjectsTest, AHandleKeepsItsObject) {
  auto handle = wrap(*device->allocator().allocate({.length = 8}));
  EXPECT_EQ(device->allocator().memory_use().live_bytes, 8u);
  handle = nullptr;
  EXPECT_EQ(device->allocator().memory_use().live_bytes, 0u);
}

TEST_F(ObjectsTest, AFenceCanBeWaitedForLikeAnyPendingObject) {
  const auto fence = make_fence();
  const auto handle = wrap(fence);
  ASSERT_NE(handle->type->wait, nullptr);
  EXPECT_EQ(handle->type->wait(handle.get(), 0), -1);
  EXPECT_EQ(handle->type->wait(handle.get(), 1'000'000), -1);
  std::thread signaller([&] { EXPECT_OK(fence->signal()); });
  EXPECT_EQ(handle->type->wait(handle.get(), -1), 0);
  signaller.join();
  EXPECT_EQ(handle->type->wait(handle.get(), 0), 0);
}

TEST_F(ObjectsTest, AFailedFenceTellsItsCode) {
  const auto fence = make_fence();
  fence->fail(Status(StatusCode::kDeadlineExceeded, "The work took too long."));
  EXPECT_EQ(wait_for(*fence, 0), BATON_DEADLINE_EXCEEDED);
  EXPECT_EQ(wait_for(*fence, -1), BATON_DEADLINE_EXCEEDED);
}

TEST_F(ObjectsTest, AnEmptyFenceHasPassed) { EXPECT_EQ(wait_for(*make_ref<hal::Fence>(), 0), 0); }

// A failure is told before what is still to come.
TEST_F(ObjectsTest, OneFailureIsEnough) {
  const auto pending = make_fence(), failed = make_fence();
  failed->fail(Status(StatusCode::kUnavailable, "The device is gone."));
  const hal::Fence* both[] = {pending.get(), failed.get()};
  EXPECT_EQ(wait_for(*hal::Fence::join(both), 0), BATON_UNAVAILABLE);
}

}  // namespace
}  // namespace baton::modules
