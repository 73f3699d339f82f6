// What a device ran is told under the names of its commands: launches, copies, and what others record.
#include "hal/drivers/vulkan/work_spans.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/timeline.hpp"
#include "hal/commands/all.hpp"
#include "hal/drivers/vulkan/device.hpp"
#include "hal/drivers/vulkan/driver.hpp"
#include "hal/drivers/vulkan/foreign_extensions.hpp"
#include "hal/timeline_observer.hpp"
#include "tests/support/status_matchers.hpp"
#include "tests/support/vulkan_validation.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

using Names = std::map<std::string, int>;

class WorkSpansTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = testing_support::open_watched_vulkan(&timeline());
    if (!opened.has_value() && opened.error().code() == StatusCode::kUnavailable) {
      GTEST_SKIP() << "skipped: no Vulkan device (" << opened.error().message() << ")";
    }
    ASSERT_OK(opened);
    own_ = static_cast<Device*>(opened->get());
    if (!own_->spans()) GTEST_SKIP() << "skipped: the device has no clock";
    device_ = observe(std::move(opened).value(), timeline());
  }
  void TearDown() override { device_ = nullptr; }

  baton::Timeline& timeline() { return *timeline_; }
  hal::Device& device() { return *device_; }
  Ref<hal::Buffer> buffer() {
    return device()
        .allocator()
        .allocate({.length = 64, .memory = MemoryKind::kDeviceLocal | MemoryKind::kHostVisible})
        .value();
  }
  Status run(hal::Recording& recording, const BindingTable& table = {}) { return run_on(device(), recording, table); }
  static Status run_on(hal::Device& device, hal::Recording& recording, const BindingTable& table = {}) {
    const auto done = device.make_semaphore().value();
    const SemaphorePoint signal(done, 1);
    BATON_TRY(device.queue().execute({.signals = {&signal, 1}}, recording, table));
    return done->wait(1);
  }
  Ref<ForeignFunction> filler(const Ref<hal::Buffer>& target) {
    return make_foreign_function("lib.fill", [this, target](const ForeignArguments& arguments) -> Status {
      CommandBufferV1 handles;
      BATON_TRY(arguments.scope.extension(kCommandBufferExtension, &handles));
      fill(handles, *target);
      return {};
    });
  }
  void fill(const CommandBufferV1& handles, const hal::Buffer& target) {
    const Block& block = static_cast<const Buffer&>(target).block();
    own_->context().symbols().vkCmdFillBuffer(static_cast<VkCommandBuffer>(handles.command_buffer), block.slab->buffer,
                                              block.offset, 64, 7);
  }

  // Of the device's row, once all is told.
  Names spans() {
    EXPECT_OK(device().queue().wait_idle(kWaitForever));
    timeline().flush();
    Names names;
    std::map<int64_t, int64_t> ends;
    timeline().for_each([&](std::string_view row, const baton::Timeline::Span& span) {
      if (!row.starts_with("vulkan ")) return;
      ++names[span.label->name];
      EXPECT_EQ(span.label->category, "command");
      EXPECT_GE(span.duration_ns, 0);
      ends[span.begin_ns] = span.begin_ns + span.duration_ns;
    });
    int64_t last_ns = 0;
    for (const auto& [begin_ns, end_ns] : ends) {
      EXPECT_GE(begin_ns, last_ns) << "one behind the other";
      last_ns = end_ns;
    }
    return names;
  }

  std::unique_ptr<baton::Timeline> timeline_ = std::make_unique<baton::Timeline>();
  Ref<hal::Device> device_;
  Device* own_ = nullptr;
};

TEST_F(WorkSpansTest, CommandsHaveSpansAsOftenAsTheyRan) {
  const auto target = buffer(), another = buffer(), source = buffer();
  const auto commands = device().make_command_buffer({.name = "several", .slot_count = 1}).value();
  EXPECT_OK(commands->fill_buffer({.target = Binding(Slot{0}, 0, 64), .pattern = 1}));
  EXPECT_OK(commands->fill_buffer({.target = source, .pattern = 1}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->copy_buffer({.source = source, .target = Binding(Slot{0}, 0, 64)}));
  const auto recording = commands->finish().value();
  // With one table, with another, and both at once.
  const BufferRange one[] = {target}, other[] = {another};
  for (const auto& table : {one, other, one}) EXPECT_OK(run(*recording, {.buffers = {table, 1}}));
  const auto done = device().make_semaphore().value();
  for (uint64_t turn = 1; turn <= 6; ++turn) {
    const SemaphorePoint signal(done, turn);
    EXPECT_OK(device().queue().execute({.signals = {&signal, 1}}, *recording, {.buffers = turn % 3 ? one : other}));
  }
  EXPECT_OK(done->wait(6));
  EXPECT_EQ(spans(), (Names{{"fill_buffer", 18}, {"copy_buffer", 9}}));
}

TEST_F(WorkSpansTest, WhatOthersRecordHasTheirName) {
  const auto target = buffer();
  const auto function = filler(target);
  const Binding bindings[] = {BufferRange(target.get(), 0, 64)};
  const auto commands = device().make_command_buffer({.name = "foreign"}).value();
  EXPECT_OK(commands->begin_custom({.module = "lib", .function = "custom"}));
  CommandBufferV1 handles;
  EXPECT_OK(commands->extension(kCommandBufferExtension, &handles));
  fill(handles, *target);
  EXPECT_OK(commands->end_custom({.module = "lib", .function = "custom"}));
  EXPECT_OK(commands->barrier({}));
  EXPECT_OK(commands->foreign({.function = function.get(), .bindings = bindings}));
  const auto recording = commands->finish().value();
  // At first in its turn, then in one submission.
  for (int turn = 0; turn < 3; ++turn) EXPECT_OK(run(*recording));
  EXPECT_EQ(spans(), (Names{{"lib.custom", 3}, {"lib.fill", 3}}));
}

TEST_F(WorkSpansTest, CallsOfTheHostAreToldByTheirThread) {
  const auto function = make_host_function("app.look", [](const HostCallArguments&) -> Status { return {}; });
  const auto commands = device().make_command_buffer({.name = "host"}).value();
  EXPECT_OK(commands->host_call({.function = function.get()}));
  const auto recording = commands->finish().value();
  EXPECT_OK(run(*recording));
  EXPECT_OK(device().queue().wait_idle(kWaitForever));
  int told = 0;
  timeline().for_each([&](std::string_view, const baton::Timeline::Span& span) {
    told += span.label->name == "app.look" && span.label->category == "command";
  });
  EXPECT_EQ(told, 1);
}

// The app's timeline may go before the device's last reference.
TEST_F(WorkSpansTest, WorkAfterTheTimelineIsToldToNobody) {
  const auto target = buffer();
  const Ref<hal::Device> driven(own_);
  const auto commands = driven->make_command_buffer({.name = "late"}).value();
  EXPECT_OK(commands->fill_buffer({.target = target, .pattern = 1}));
  const auto recording = commands->finish().value();
  EXPECT_OK(run_on(*driven, *recording));
  EXPECT_OK(driven->queue().wait_idle(kWaitForever));
  device_ = nullptr;
  timeline_ = nullptr;
  EXPECT_OK(run_on(*driven, *recording));
}

}  // namespace
}  // namespace baton::hal::drivers::vulkan
