// Semaphore and fence: values only rise, failures stay, waits time out, and everyone who waits hears of it.
#include <thread>

#include "hal/fence.hpp"
#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class SemaphoreTest : public DeviceTest {};

TEST_P(SemaphoreTest, OnlyRises) {
  const auto rising = semaphore(5);
  EXPECT_EQ(rising->query().value(), 5u);
  EXPECT_OK(rising->signal(7));
  EXPECT_FAILS(rising->signal(7), StatusCode::kInvalidArgument, "Semaphore signal to 7 is not above its value (7).");
  EXPECT_FAILS(rising->signal(3), StatusCode::kInvalidArgument, "Semaphore signal to 3 is not above its value (7).");
  EXPECT_FAILS(rising->signal(~uint64_t{0}), StatusCode::kInvalidArgument, "is not above");
  EXPECT_TRUE(rising->reached(7));
  EXPECT_FALSE(rising->reached(8));
}

TEST_P(SemaphoreTest, WaitsTimeOut) {
  const auto never = semaphore();
  EXPECT_FAILS(never->wait(1, 0), StatusCode::kDeadlineExceeded, "Semaphore did not reach 1 within 0 ns (value 0).");
  EXPECT_FAILS(never->wait(1, 2'000'000), StatusCode::kDeadlineExceeded, "within 2000000 ns");
  EXPECT_OK(never->wait(0, 0));
}

TEST_P(SemaphoreTest, TheFirstFailureStays) {
  const auto failed = semaphore(1);
  failed->fail(failure(StatusCode::kDataLoss, "Gone."));
  failed->fail(failure(StatusCode::kInternal, "Later."));
  EXPECT_FAILS(failed->query(), StatusCode::kDataLoss, "Gone.");
  EXPECT_FAILS(failed->signal(2), StatusCode::kDataLoss, "Gone.");
  EXPECT_FAILS(failed->wait(9), StatusCode::kDataLoss, "Gone.");
  EXPECT_FALSE(failed->reached(1));
}

TEST_P(SemaphoreTest, WakesThreadsThatWait) {
  const auto ping = semaphore(), pong = semaphore();
  std::thread other([&] {
    for (uint64_t i = 1; i <= 100; ++i) {
      EXPECT_OK(ping->wait(i));
      if (i % 10 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
      EXPECT_OK(pong->signal(i));
    }
  });
  for (uint64_t i = 1; i <= 100; ++i) {
    EXPECT_OK(ping->signal(i));
    EXPECT_OK(pong->wait(i, 10'000'000'000));
  }
  other.join();
}

TEST_P(SemaphoreTest, FencesJoinPoints) {
  const auto first = semaphore(), second = semaphore();
  const auto a = Fence::at(*first, 2), b = Fence::at(*second, 1);
  const Fence* const both[] = {a.get(), nullptr, b.get(), a.get()};
  const auto joined = Fence::join(both);
  EXPECT_EQ(joined->points().size(), 2u);
  EXPECT_FAILS(joined->query(), StatusCode::kDeadlineExceeded, "did not reach");
  EXPECT_OK(a->signal());
  EXPECT_FAILS(joined->wait(1000), StatusCode::kDeadlineExceeded, "did not reach 1");
  EXPECT_OK(b->signal());
  EXPECT_OK(joined->wait());
  EXPECT_FAILS(joined->signal(), StatusCode::kInvalidArgument, "is not above");
  joined->fail(failure(StatusCode::kCancelled, "Enough."));
  EXPECT_FAILS(first->query(), StatusCode::kCancelled, "Enough.");
  EXPECT_FAILS(joined->query(), StatusCode::kCancelled, "Enough.");
}

BATON_CONFORMANCE(SemaphoreTest);

}  // namespace
}  // namespace baton::hal::conformance
