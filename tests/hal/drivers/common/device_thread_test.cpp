// The end of the process waits for the threads of devices, and not for ever.
#include "hal/drivers/common/device_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "tests/support/death_tests.hpp"

namespace baton::hal {
namespace {

using std::chrono::milliseconds;

// Works until it is asked to leave, and takes its time to go.
class Sleeper final : public RefCounted<Sleeper>, public DeviceThreadOwner {
 public:
  explicit Sleeper(bool hears, bool* gone = nullptr) : hears_(hears), gone_(gone) {}
  ~Sleeper() {
    std::this_thread::sleep_for(milliseconds(50));
    std::fputs("gone\n", stderr);
    if (gone_) *gone_ = true;
  }

  void work() override {
    std::unique_lock lock(mutex_);
    begun_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return stopping_ || (leaving_ && hears_); });
  }
  void leave() override {
    leaving_ = true;
    changed_.notify_all();
  }
  void wait_until_it_works() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_; });
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }

 private:
  const bool hears_;
  bool* const gone_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool begun_ = false;
  bool stopping_ = false;
  std::atomic<bool> leaving_{false};
};

// The thread is the last to hold its owner when the process ends.
[[noreturn]] void end_while_it_goes(bool told) {
  auto sleeper = make_ref<Sleeper>(true);
  std::thread thread = start_device_thread(Ref<Sleeper>(sleeper));
  sleeper->wait_until_it_works();
  if (told) sleeper->stop();
  thread.detach();
  sleeper = nullptr;
  std::exit(3);
}

[[noreturn]] void end_while_it_hears_nothing() {
  auto sleeper = make_ref<Sleeper>(false);
  start_device_thread(Ref<Sleeper>(sleeper)).detach();
  sleeper->wait_until_it_works();
  std::fputs("the end\n", stderr);
  std::exit(4);
}

// Of an owner's two threads one has ended long before the other is asked to leave.
[[noreturn]] void end_while_one_of_two_works() {
  class Pair final : public RefCounted<Pair>, public DeviceThreadOwner {
   public:
    ~Pair() {
      std::this_thread::sleep_for(milliseconds(50));
      std::fputs("gone\n", stderr);
    }
    void work() override {
      if (begun_.fetch_add(1) == 1) return;
      while (!leaving_) std::this_thread::sleep_for(milliseconds(1));
    }
    void leave() override { leaving_ = true; }
    bool begun() const { return begun_ != 0; }

   private:
    std::atomic<int> begun_{0};
    std::atomic<bool> leaving_{false};
  };
  auto pair = make_ref<Pair>();
  std::thread stays = start_device_thread(Ref<Pair>(pair));
  while (!pair->begun()) std::this_thread::yield();
  start_device_thread(Ref<Pair>(pair)).join();
  pair = nullptr;
  stays.detach();
  std::exit(3);
}

class DeviceThreadTest : public testing::Test {
 protected:
  DeviceThreadTest() { testing_support::end_processes_that_begin_anew(); }
};

TEST_F(DeviceThreadTest, TheEndWaitsForAThreadThatLetsGo) {
  EXPECT_EXIT(end_while_it_goes(true), testing::ExitedWithCode(3), "^gone\n$");
}

TEST_F(DeviceThreadTest, TheEndAsksAThreadToLeave) {
  EXPECT_EXIT(end_while_it_goes(false), testing::ExitedWithCode(3), "^gone\n$");
}

TEST_F(DeviceThreadTest, TheEndAsksEachThreadOfAnOwner) {
  EXPECT_EXIT(end_while_one_of_two_works(), testing::ExitedWithCode(3), "^gone\n$");
}

TEST_F(DeviceThreadTest, TheEndGivesUpAThreadThatHearsNothing) {
  EXPECT_EXIT(end_while_it_hears_nothing(), testing::ExitedWithCode(4), "^the end\n$");
}

TEST_F(DeviceThreadTest, AThreadThatIsToldToEndIsWaitedFor) {
  bool gone = false;
  auto sleeper = make_ref<Sleeper>(true, &gone);
  std::thread thread = start_device_thread(Ref<Sleeper>(sleeper));
  sleeper->wait_until_it_works();
  sleeper->stop();
  sleeper = nullptr;
  end_thread(std::move(thread));
  EXPECT_TRUE(gone);
  end_thread({});
}

}  // namespace
}  // namespace baton::hal
