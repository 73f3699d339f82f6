// Goal: what a program records allocates nothing, however much it is. Method: calls of new, and bytes in use of malloc,
// are counted while bench/modules/record_pair.bvmasm records 10 pairs and 500: both need the same few objects.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "hal/driver_registry.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "tests/modules/linked_program.hpp"
#include "tests/support/files.hpp"
#include "tests/support/status_matchers.hpp"

namespace {
std::atomic<uint64_t> calls_of_new{0};
}

void* operator new(size_t size) {
  ++calls_of_new;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace baton::modules {
namespace {

int do_nothing(const baton_executable_environment*, const baton_dispatch_state*, const baton_workgroup_state*) {
  return 0;
}
const baton_executable_library* query(uint32_t, const baton_executable_environment*) {
  static const baton_kernel kernels[] = {do_nothing};
  static const char* const names[] = {"nothing"};
  static const baton_kernel_attributes attributes[] = {{1, 2, 1, 1, 1, 0}};
  static const baton_executable_library library = {
      sizeof(library), BATON_EXECUTABLE_LIBRARY_VERSION, "bench", 0, 0, 0, 1, nullptr, kernels, names, attributes};
  return &library;
}

Ref<hal::Device> open_device(std::string_view uri) {
  hal::drivers::DriverOptions options;
  options.local.libraries.push_back({"bench", query});
  hal::DriverRegistry registry;
  EXPECT_OK(hal::drivers::register_drivers(registry, std::move(options)));
  return *registry.open(uri);
}

TEST(RecordingAllocatesNothing, ThroughVmImportAndDriver) {
  for (const std::string_view uri : {"local-sync", "local-task", "null"}) {
    auto hal = make_hal_module({.devices = {open_device(uri)}});
    ASSERT_OK(hal);
    const std::vector<std::byte> text = testing_support::read_file(BATON_RECORD_PAIR);
    LinkedProgram program({*hal}, {reinterpret_cast<const char*>(text.data()), text.size()});
    const vm::ExportedFunction run = program.find("run");
    vm::Invocation invocation(program.context);
    uint64_t calls[2] = {}, bytes_left[2] = {};
    // What a call leaves, every call leaves; beside one of them a thread of the device may begin.
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
      for (const int32_t pairs : {10, 500}) {
        const vm::TypedValue argument = pairs;
        vm::Value result;
        const uint64_t calls_before = calls_of_new, bytes_before = mallinfo2().uordblks;
        ASSERT_OK(invocation.invoke(run, {&argument, 1}, {&result, 1}));
        calls[pairs > 10] = calls_of_new - calls_before;
        const uint64_t left = mallinfo2().uordblks - bytes_before;
        bytes_left[pairs > 10] = round == 0 ? left : std::min(bytes_left[pairs > 10], left);
        EXPECT_EQ(result.i32, pairs);
      }
    }
    EXPECT_EQ(calls[0], calls[1]) << uri;
    EXPECT_LE(calls[0], 6u) << uri;  // Two handles, the command buffer and its validating layer, the recording.
    EXPECT_EQ(bytes_left[0], 0u) << uri;
    EXPECT_EQ(bytes_left[1], 0u) << uri;
  }
}

}  // namespace
}  // namespace baton::modules
