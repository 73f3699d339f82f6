// An operation that is deferred runs once, when its last wait is over, from whichever thread that is; a failed wait
// fails its signals and it never runs; it holds its device and lets it go last.
#include "hal/drivers/common/deferred_operation.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "hal/drivers/common/host_semaphore.hpp"
#include "hal/drivers/null/driver.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal {
namespace {

class DeferredOperationTest : public testing::Test {
 protected:
  class Counting final : public DeferredOperation {
   public:
    Counting(DeferredOperationTest& test, Status result = {})
        : DeferredOperation(*test.device_, test.ledger_), test_(test), result_(std::move(result)) {}
    ~Counting() override { ++test_.gone_; }

   private:
    void perform(Signals signals) override {
      ++test_.depth_;
      test_.depth_max_ = std::max(test_.depth_max_.load(), test_.depth_.load());
      ++test_.performed_;
      ledger_.conclude(signals, result_);
      --test_.depth_;
    }
    DeferredOperationTest& test_;
    const Status result_;
  };

  static Ref<Semaphore> semaphore() { return make_ref<HostSemaphore>(uint64_t{0}); }
  void defer(std::span<const SemaphorePoint> waits, std::span<const SemaphorePoint> signals, Status result = {}) {
    (new Counting(*this, std::move(result)))->start({waits, signals});
  }

  Ref<Device> device_ = drivers::null::make_driver({})->open("", {}).value();
  OperationLedger ledger_;
  std::atomic<int> performed_{0}, gone_{0}, depth_{0}, depth_max_{0};
};

TEST_F(DeferredOperationTest, WithoutWaitsItRunsAtOnce) {
  const auto done = semaphore();
  const SemaphorePoint signal(done, 1);
  defer({}, {&signal, 1});
  EXPECT_TRUE(done->reached(1));
  EXPECT_EQ(gone_, 1);
  EXPECT_OK(ledger_.wait_until_empty(0));
}

TEST_F(DeferredOperationTest, RunsOnceWhenTheLastOfManyWaitsIsOver) {
  constexpr int kThreads = 4, kOperations = 200;
  for (int round = 0; round < 5; ++round) {
    performed_ = gone_ = 0;
    std::vector<Ref<Semaphore>> go;
    std::vector<SemaphorePoint> waits;
    for (int i = 0; i < kThreads; ++i) go.push_back(semaphore());
    const auto done = semaphore();
    for (uint64_t value = 1; value <= kOperations; ++value) {
      waits.clear();
      for (const auto& one : go) waits.emplace_back(one, value);
      defer(waits, {});
    }
    waits.clear();
    for (const auto& one : go) waits.emplace_back(one, uint64_t{kOperations});
    const SemaphorePoint signal(done, 1);
    defer(waits, {&signal, 1});
    EXPECT_EQ(performed_, 0);
    std::vector<std::thread> threads;
    for (const auto& one : go) {
      threads.emplace_back([&one] {
        for (uint64_t value = 1; value <= kOperations; ++value) EXPECT_OK(one->signal(value));
      });
    }
    EXPECT_OK(done->wait(1));
    EXPECT_OK(ledger_.wait_until_empty(kWaitForever));
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(performed_, kOperations + 1);
    EXPECT_EQ(gone_, kOperations + 1);
  }
}

TEST_F(DeferredOperationTest, TheFirstFailedWaitFailsTheSignalsAtOnce) {
  const auto broken = semaphore(), late = semaphore(), done = semaphore();
  const SemaphorePoint waits[] = {{broken, 1}, {late, 1}};
  const SemaphorePoint signal(done, 1);
  defer(waits, {&signal, 1});
  broken->fail(failure(StatusCode::kUnavailable, "First."));
  EXPECT_FAILS(done->wait(1, 0), StatusCode::kUnavailable, "First.");
  EXPECT_EQ(gone_, 0) << "the other wait still points at it";
  EXPECT_FAILS(ledger_.wait_until_empty(0), StatusCode::kDeadlineExceeded, "1 operations in flight");
  late->fail(failure(StatusCode::kInternal, "Second."));
  EXPECT_EQ(gone_, 1);
  EXPECT_EQ(performed_, 0);
  EXPECT_FAILS(done->wait(1, 0), StatusCode::kUnavailable, "First.");
  EXPECT_OK(ledger_.take_failure());
}

TEST_F(DeferredOperationTest, AFailureWithoutSignalsIsKeptOnce) {
  const auto go = semaphore();
  const SemaphorePoint wait(go, 1);
  defer({&wait, 1}, {}, failure(StatusCode::kInternal, "The first."));
  defer({&wait, 1}, {}, failure(StatusCode::kInternal, "The second."));
  EXPECT_OK(go->signal(1));
  EXPECT_FAILS(ledger_.take_failure(), StatusCode::kInternal, "The first.");
  EXPECT_OK(ledger_.take_failure());
}

TEST_F(DeferredOperationTest, AChainOfAnyLengthRunsInOneStackFrame) {
  constexpr uint64_t kLength = 5000;
  const auto chain = semaphore();
  for (uint64_t i = kLength; i > 0; --i) {
    const SemaphorePoint wait(chain, i), signal(chain, i + 1);
    defer({&wait, 1}, {&signal, 1});
  }
  EXPECT_OK(chain->signal(1));
  EXPECT_TRUE(chain->reached(kLength + 1));
  EXPECT_EQ(depth_max_, 1);
}

TEST_F(DeferredOperationTest, KeepsItsDeviceAndWhatItSignals) {
  const auto go = semaphore();
  auto done = semaphore();
  Semaphore* const kept = done.get();
  const SemaphorePoint wait(go, 1), signal(done, 1);
  defer({&wait, 1}, {&signal, 1});
  done = nullptr;
  device_ = nullptr;
  EXPECT_FALSE(kept->reached(1));
  EXPECT_OK(go->signal(1));
  EXPECT_EQ(gone_, 1);
}

TEST_F(DeferredOperationTest, ASemaphoreThatNobodyHoldsFailsWhoWaitsForIt) {
  const auto done = semaphore();
  {
    const auto forgotten = semaphore();
    const SemaphorePoint wait(forgotten, 1), signal(done, 1);
    defer({&wait, 1}, {&signal, 1});
  }
  EXPECT_FAILS(done->wait(1, 0), StatusCode::kAborted, "The semaphore went away");
  EXPECT_EQ(gone_, 1);
}

}  // namespace
}  // namespace baton::hal
