#include "tests/support/vulkan_validation.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "base/sanitizers.hpp"
#include "hal/drivers/vulkan/driver.hpp"

// The loader of Debian 12 (1.3.239) keeps 32 bytes of each instance that has a messenger; instances of ours are destroyed. Its
// validation layer keeps 64 bytes of each signal of a semaphore, and on a machine of 16 cores now and then loses one of
// them; of objects that a device leaves behind it tells by itself.
#if BATON_ADDRESS_SANITIZER
extern "C" const char* __lsan_default_suppressions();  // NOLINT: the sanitizer's name
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libvulkan.so\nleak:libVkLayer_khronos_validation.so";
}
#endif

// ThreadSanitizer sees the locks of libraries that were built without it, and none of their atomic accesses: what it says of
// two accesses or two locks inside them is a guess.
#if BATON_THREAD_SANITIZER
extern "C" const char* __tsan_default_suppressions();  // NOLINT: the sanitizer's name
extern "C" const char* __tsan_default_suppressions() {
  return "race:libvulkan\nmutex:libvulkan\ndeadlock:libvulkan\n"
         "race:libVkLayer\nmutex:libVkLayer\ndeadlock:libVkLayer\n"
         "race:libLLVM\nmutex:libLLVM\ndeadlock:libLLVM\n";
}
#endif

namespace baton::testing_support {
namespace {

class Messages final : public hal::drivers::vulkan::ValidationListener {
 public:
  void say(std::string_view message) override {
    const std::lock_guard lock(mutex_);
    messages_.emplace_back(message);
  }
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(messages_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> messages_;  // Guarded by mutex_.
};

// Asks after each test, when its device is gone or still open alike.
class FailingOnMessages final : public testing::EmptyTestEventListener {
 public:
  explicit FailingOnMessages(std::shared_ptr<Messages> messages) : messages_(std::move(messages)) {}
  void OnTestEnd(const testing::TestInfo&) override {
    for (const std::string& message : messages_->take()) ADD_FAILURE() << "Vulkan's validation layer: " << message;
  }

 private:
  const std::shared_ptr<Messages> messages_;
};

std::unique_ptr<hal::Driver> make_watched_driver(Timeline* timeline) {
  static const std::shared_ptr<Messages> messages = [] {
    auto made = std::make_shared<Messages>();
    testing::UnitTest::GetInstance()->listeners().Append(new FailingOnMessages(made));
    return made;
  }();
  return hal::drivers::vulkan::make_driver({.timeline = timeline, .validation_listener = messages});
}

Result<Ref<hal::Device>> open_watched(hal::Driver& driver) {
  const char* const wanted = std::getenv("BATON_VULKAN_DEVICE");
  const std::string_view path = wanted ? wanted : "";
#if BATON_THREAD_SANITIZER
  return driver.open(path, {});  // The layer's own locks would be what ThreadSanitizer reports.
#endif
  const hal::DeviceParameter watched[] = {{"vulkan_validation", "1"}};
  auto device = driver.open(path, watched);
  if (device.has_value() || device.error().message().find("which is not installed") == std::string_view::npos) {
    return device;
  }
  static const bool said =
      std::fputs("No validation layer: what the tests do with Vulkan is not watched.\n", stderr) >= 0;
  (void)said;
  return driver.open(path, {});
}

}  // namespace

Result<Ref<hal::Device>> open_watched_vulkan(Timeline* timeline) {
  if (timeline) return open_watched(*make_watched_driver(timeline));
  static const std::unique_ptr<hal::Driver> driver = make_watched_driver(nullptr);
  return open_watched(*driver);
}

}  // namespace baton::testing_support
