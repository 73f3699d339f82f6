// Goal: whatever call of Vulkan fails, somebody is told by a status, the process lives, nothing leaks and nothing hangs, and
// what comes later works or is told that the device is lost. Method: a library in front of the loader (faulty_vulkan.hpp)
// makes each call of a session fail in its turn; the validation layer watches what the driver does then.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "by_address_spv.hpp"
#include "by_descriptors_spv.hpp"
#include "hal/commands/all.hpp"
#include "hal/drivers/vulkan/device.hpp"
#include "hal/drivers/vulkan/driver.hpp"
#include "hal/host_function.hpp"
#include "tests/support/faulty_vulkan.hpp"
#include "tests/support/status_matchers.hpp"
#include "tests/support/temporary_path.hpp"
#include "tests/support/vulkan_validation.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

using testing_support::FaultyVulkan;

// Before anybody opens libvulkan.so.1.
FaultyVulkan& faulty() {
  static FaultyVulkan* const one = [] {
    void* const library = dlopen(BATON_FAULTY_VULKAN, RTLD_NOW | RTLD_LOCAL);
    void* const entry = library ? dlsym(library, kFaultyVulkanName) : nullptr;
    return entry ? reinterpret_cast<FaultyVulkanEntry>(entry)() : nullptr;
  }();
  return *one;
}

class FaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    reset();
    auto opened = testing_support::open_watched_vulkan();
    if (!opened.has_value() && opened.error().code() == StatusCode::kUnavailable) {
      GTEST_SKIP() << "skipped: no Vulkan device (" << opened.error().message() << ")";
    }
    ASSERT_OK(opened);
  }
  void TearDown() override { reset(); }

  static void reset() {
    FaultyVulkan& now = faulty();
    now.failing_call = ~0u;
    now.calls = 0;
    now.loses_device = now.is_lost = now.hides_devices = false;
    now.loader_version = now.device_version = 0;
    now.failed = nullptr;
  }
  static void fail(uint32_t call, VkResult result) {
    FaultyVulkan& now = faulty();
    now.calls = 0;
    now.failing_call = call;
    now.result = result;
    now.loses_device = result == VK_ERROR_DEVICE_LOST;
    now.is_lost = false;
    now.failed = nullptr;
  }
};

constexpr uint32_t kCount = 64;
constexpr uint32_t kFactor = 3, kPattern = 5;
constexpr uint64_t kLarge = 5 << 20;  // It shares no slab.

Status multiply(hal::Device& device, std::span<const unsigned char> code, hal::Buffer& source, hal::Buffer& target) {
  const ExecutableVariant variants[] = {{"spirv", std::as_bytes(code)}};
  BATON_TRY_ASSIGN(const auto executable, device.make_executable({.name = "kernels", .variants = variants}));
  BATON_TRY_ASSIGN(const auto commands, device.make_command_buffer({.slot_count = 2}));
  const Binding bindings[] = {Binding(Slot{0}, 0, 4 * kCount, Access::kRead), Binding(Slot{1}, 0, 4 * kCount)};
  const uint32_t constants[] = {kCount, kFactor};
  BATON_TRY(commands->fill_buffer({.target = Binding(Slot{0}, 0, 4 * kCount), .pattern = kPattern}));
  BATON_TRY(commands->barrier({}));
  BATON_TRY(commands->dispatch(
      {.executable = executable.get(), .grid = {kCount / 32, 1, 1}, .constants = constants, .bindings = bindings}));
  BATON_TRY_ASSIGN(const auto recording, commands->finish());
  const BufferRange table[] = {source, target};
  BATON_TRY_ASSIGN(const auto done, device.make_semaphore(0));
  const SemaphorePoint signal(done, 1);
  BATON_TRY(device.queue().execute({.signals = {&signal, 1}}, *recording, {.buffers = table}));
  return done->wait(1);
}

// A host call between a fill that nobody waits for on the host and a mapping.
Status call_host(hal::Device& device, hal::Buffer& target) {
  BATON_TRY_ASSIGN(const auto done, device.make_semaphore(0));
  const SemaphorePoint filled(done, 1), called(done, 2);
  BATON_TRY(device.queue().fill_buffer({.signals = {&filled, 1}}, {.target = target, .pattern = kPattern}));
  const auto function = make_host_function("add", [&](const HostCallArguments&) -> Status {
    BATON_TRY_ASSIGN(const Mapping mapping, target.map(Access::kReadWrite));
    for (uint32_t& word : mapping.as<uint32_t>()) ++word;
    return {};
  });
  BATON_TRY(device.queue().host_call({{&filled, 1}, {&called, 1}}, *function));
  BATON_TRY(done->wait(2));
  BATON_TRY(device.queue().wait_idle());
  BATON_TRY_ASSIGN(const Mapping mapping, target.map(Access::kRead));
  for (const uint32_t word : mapping.as<uint32_t>()) EXPECT_EQ(word, kPattern + 1);
  return {};
}

// All that a host does with a device, from memory to results.
Status work(hal::Device& device) {
  BATON_TRY_ASSIGN(const auto source,
                   device.allocator().allocate({.length = 4 * kCount,
                                                .memory = MemoryKind::kDeviceLocal,
                                                .usage = BufferUsage::kTransfer | BufferUsage::kDispatch}));
  BATON_TRY_ASSIGN(const auto target, device.allocator().allocate({.length = 4 * kCount}));
  BATON_TRY_ASSIGN(const auto large, device.allocator().allocate({.length = kLarge}));
  for (const auto code :
       {std::span<const unsigned char>(by_address_spv), std::span<const unsigned char>(by_descriptors_spv)}) {
    BATON_TRY(multiply(device, code, *source, *target));
    BATON_TRY_ASSIGN(const Mapping mapping, target->map(Access::kRead));
    for (const uint32_t word : mapping.as<uint32_t>()) EXPECT_EQ(word, kFactor * kPattern);
  }
  return call_host(device, *target);
}

Status session() {
  BATON_TRY_ASSIGN(const auto device, testing_support::open_watched_vulkan());
  return work(*device);
}

TEST_F(FaultsTest, MemoryThatIsOutIsToldAndComesBack) {
  faulty().calls = 0;
  ASSERT_OK(session());
  const uint32_t count = faulty().calls;
  std::set<std::string> told;
  for (uint32_t call = 0; call < count; ++call) {
    const auto opened = testing_support::open_watched_vulkan();
    ASSERT_OK(opened);
    fail(call, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    const Status failed = work(**opened);
    const char* const name = faulty().failed;
    if (!name) break;  // The session makes fewer calls: the device was open.
    SCOPED_TRACE(testing::Message() << "call " << call << ", " << name << ": " << failed.to_string());
    told.insert(name);
    faulty().failing_call = ~0u;
    if (!failed.ok()) {
      EXPECT_TRUE(failed.code() == StatusCode::kResourceExhausted || failed.code() == StatusCode::kDataLoss);
    }
    const Status later = work(**opened);
    const bool is_lost = static_cast<Device&>(**opened).context().lost();
    if (is_lost) {
      EXPECT_FAILS(later, StatusCode::kDataLoss, "is lost; nothing runs on it any more.");
    } else {
      EXPECT_OK(later);
    }
  }
  for (const char* const name : {"vkAllocateMemory", "vkCreateBuffer", "vkCreateComputePipelines", "vkQueueSubmit"}) {
    EXPECT_TRUE(told.contains(name)) << name;
  }
}

TEST_F(FaultsTest, ADeviceThatCannotBeOpenedLeavesNothing) {
  faulty().calls = 0;
  ASSERT_OK(testing_support::open_watched_vulkan());
  const uint32_t count = faulty().calls;
  for (uint32_t call = 0; call < count; ++call) {
    fail(call, VK_ERROR_OUT_OF_HOST_MEMORY);
    const auto opened = testing_support::open_watched_vulkan();
    const char* const name = faulty().failed;
    if (!name) break;  // The others are made when the device goes.
    SCOPED_TRACE(testing::Message() << "call " << call << ", " << name);
    if (!opened.has_value()) {
      EXPECT_FAILS(opened, StatusCode::kResourceExhausted, name);
    }
  }
  reset();
  EXPECT_OK(session());
}

TEST_F(FaultsTest, ADeviceThatIsLostTellsEveryone) {
  faulty().calls = 0;
  ASSERT_OK(session());
  const uint32_t count = faulty().calls;
  bool any = false;
  for (uint32_t call = 0; call < count; ++call) {
    const auto opened = testing_support::open_watched_vulkan();
    ASSERT_OK(opened);
    fail(call, VK_ERROR_DEVICE_LOST);
    const Status failed = work(**opened);
    if (!faulty().failed) break;
    if (!faulty().is_lost) continue;  // No call that can say so.
    any = true;
    SCOPED_TRACE(testing::Message() << "call " << call << ", " << faulty().failed << ": " << failed.to_string());
    const Status later = work(**opened);
    EXPECT_FAILS(later, StatusCode::kDataLoss, "is lost; nothing runs on it any more.");
    EXPECT_FAILS((*opened)->queue().wait_idle(), StatusCode::kDataLoss, "is lost");
  }
  EXPECT_TRUE(any);
  reset();
  EXPECT_OK(session()) << "another device";
}

// ---- Loaders and what they see --------------------------------------------------------------------------------------

// In a process of its own, whose folder of libraries has a loader that is none.
TEST(LoaderTest, ALoaderThatCannotBeOpenedIsTold) {
  if (!std::getenv("BATON_NO_VULKAN_LOADER")) GTEST_SKIP() << "skipped: it is symbols_test.no_loader's";
  const auto driver = make_driver();
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_FAILS(driver->open("", {}), StatusCode::kUnavailable, "No Vulkan: libvulkan.so.1 cannot be opened (");
    EXPECT_FAILS(driver->list(), StatusCode::kUnavailable, "No Vulkan: libvulkan.so.1 cannot be opened (");
  }
}

TEST_F(FaultsTest, ALoaderThatIsTooOldIsNamed) {
  faulty().loader_version = VK_API_VERSION_1_1;
  const auto opened = make_driver()->open("", {});
  EXPECT_FAILS(opened, StatusCode::kUnavailable, "The Vulkan loader (1.1) is too old; Baton needs Vulkan 1.2.");
}

TEST_F(FaultsTest, ADeviceThatIsTooOldIsNamed) {
  faulty().device_version = VK_API_VERSION_1_1;
  const auto driver = make_driver();
  EXPECT_FAILS(driver->open("", {}), StatusCode::kUnavailable, "it has Vulkan 1.1.0; Baton needs 1.2.");
  const auto list = driver->list();
  ASSERT_OK(list);
  EXPECT_NE(list->front().description.find("Baton cannot use it: it has Vulkan 1.1.0"), std::string::npos);
}

TEST_F(FaultsTest, ALoaderWithoutDevicesIsTold) {
  faulty().hides_devices = true;
  const auto driver = make_driver();
  EXPECT_FAILS(driver->open("", {}), StatusCode::kUnavailable, "No Vulkan device: the loader sees none.");
  EXPECT_FAILS(driver->list(), StatusCode::kUnavailable, "No Vulkan device: the loader sees none.");
  faulty().hides_devices = false;
  EXPECT_OK(driver->open("", {})) << "it is asked again";
}

// The loader reads the manifests for each instance.
TEST_F(FaultsTest, BrokenManifestsOfDriversAreTold) {
  const std::string manifest = testing_support::temporary_path("broken_icd.json");
  constexpr const char* kManifests[] = {
      "", "{ \"file_format_version\": \"1.0.0\", \"ICD\": {",
      R"({ "file_format_version": "1.0.0", "ICD": { "library_path": "/nowhere/libvulkan_none.so", "api_version": "1.3.0" } })"};
  for (const char* const text : kManifests) {
    SCOPED_TRACE(text);
    std::ofstream(manifest) << text;
    setenv("VK_ICD_FILENAMES", manifest.c_str(), 1);
    setenv("VK_DRIVER_FILES", manifest.c_str(), 1);
    const auto opened = make_driver()->open("", {});
    unsetenv("VK_ICD_FILENAMES");
    unsetenv("VK_DRIVER_FILES");
    EXPECT_FAILS(opened, StatusCode::kUnavailable, "vkCreateInstance failed: ");
    EXPECT_FAILS(opened, StatusCode::kUnavailable, "no driver's manifest (*_icd.json) that the loader can use");
  }
  std::remove(manifest.c_str());
  EXPECT_OK(make_driver()->open("", {}));
}

}  // namespace
}  // namespace baton::hal::drivers::vulkan
