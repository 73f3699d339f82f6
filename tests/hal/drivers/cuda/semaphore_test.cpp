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

}  // namespace
}  // namespace baton::hal::drivers::cuda
