#include "hal/drivers/cuda/semaphore.hpp"

#include <thread>

#include "hal/foreign_function.hpp"
#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// A function of the user's may hold handles of libraries, and letting go of them while something else is captured
// breaks that: so it is over when the wait is, whichever thread does it.
void expect_let_go(Status (*look)(hal::Semaphore& done)) {
  const auto device = open_fake("stream");
  std::atomic<bool> begun{false}, over{false};
  const auto let_go = [&](int* thing) {
    begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    delete thing;
    over = true;
  };
  const auto done = device->make_semaphore(0).value();
  {
    auto function = make_foreign_function(
        "keeps", [thing = std::shared_ptr<int>(new int(0), let_go)](const ForeignArguments&) { return Status(); });
    auto commands = device->make_command_buffer({.name = "keeps"}).value();
    EXPECT_OK(commands->foreign({.function = function.get()}));
    const auto recording = commands->finish().value();
    const SemaphorePoint signal(done, 1);
    EXPECT_OK(device->queue().execute({{}, {&signal, 1}}, *recording));
  }
  // The worker does it, because nobody else has looked yet.
  while (!begun) std::this_thread::yield();
  EXPECT_OK(look(*done));
  EXPECT_TRUE(over);
}

TEST(SemaphoreTest, WhatWorkKeptIsLetGoOfWhenItsWaitReturns) {
  expect_let_go([](hal::Semaphore& done) { return done.wait(1); });
}

TEST(SemaphoreTest, WhatWorkKeptIsLetGoOfWhenItIsSeenToBeDone) {
  expect_let_go([](hal::Semaphore& done) {
    return done.reached(1) ? Status() : failure(StatusCode::kAborted, "The semaphore did not reach 1.");
  });
}

// Counts how often it is called.
class Counter final : public SemaphoreWaiter {
 public:
  explicit Counter(std::atomic<int>& count) : count_(count) {}
  void reached(const Status& status) override {
    EXPECT_OK(status);
    ++count_;
  }

 private:
  std::atomic<int>& count_;
};

// Someone waits for 1, which the device will reach. While the worker has no time to look, the device reaches it, and `look`
// is the first to see that.
void expect_told(void (*look)(hal::Device& device, hal::Semaphore& semaphore, Counter& other)) {
  const auto device = open_fake("stream");
  testing_support::fake_cuda().events_pass = false;
  const auto semaphore = device->make_semaphore(0).value();
  const auto filled = buffer_of(*device, {0});
  const SemaphorePoint first(semaphore, 1);
  EXPECT_OK(device->queue().fill_buffer({.signals = {&first, 1}}, {.target = filled, .pattern = 1}));
  std::atomic<int> told{0}, others{0};
  Counter counter(told), other(others);
  semaphore->notify(1, counter);
  std::atomic<bool> busy{false}, over{false};
  const auto hold = make_host_function("hold", [&](const HostCallArguments&) -> Status {
    busy = true;
    while (!over) std::this_thread::yield();
    return {};
  });
  EXPECT_OK(device->queue().host_call({}, *hold));
  while (!busy) std::this_thread::yield();
  testing_support::fake_cuda().events_pass = true;
  look(*device, *semaphore, other);
  over = true;
  for (int i = 0; i < 10'000 && told == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(told, 1);
  if (!semaphore->reached(2)) {
    EXPECT_OK(semaphore->signal(2));
  }
  EXPECT_OK(device->queue().wait_idle(10'000'000'000));
}

TEST(SemaphoreTest, WhoeverSeesTheDeviceComeAlongThoseWhoWaitAreTold) {
  expect_told([](hal::Device&, hal::Semaphore& semaphore, Counter&) { EXPECT_EQ(semaphore.query().value(), 1u); });
  expect_told([](hal::Device&, hal::Semaphore& semaphore, Counter& other) { semaphore.notify(1, other); });
  expect_told([](hal::Device&, hal::Semaphore& semaphore, Counter& other) { semaphore.notify(2, other); });
  expect_told([](hal::Device&, hal::Semaphore& semaphore, Counter&) { EXPECT_OK(semaphore.signal(2)); });
  // A queue that asks whether it may begin, for what was reached and for what nobody has promised yet.
  expect_told([](hal::Device& device, hal::Semaphore& semaphore, Counter&) {
    const SemaphorePoint reached(semaphore, 1);
    EXPECT_OK(device.queue().barrier({.waits = {&reached, 1}}));
  });
  expect_told([](hal::Device& device, hal::Semaphore& semaphore, Counter&) {
    const SemaphorePoint future(semaphore, 2);
    EXPECT_OK(device.queue().barrier({.waits = {&future, 1}}));
  });
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
