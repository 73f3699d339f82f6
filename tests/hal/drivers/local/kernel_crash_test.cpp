// A kernel that ends the process is named first, on the thread that submits and on workers, whatever the signal.
#include "hal/drivers/local/kernel_crash.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

#include "base/work_limits.hpp"
#include "hal/allocator.hpp"
#include "hal/commands/dispatch.hpp"
#include "hal/drivers/local/driver.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "tests/support/death_tests.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::local {
namespace {

// What a workgroup does is told by the binding's first number; only the last workgroup crashes.
int crash(const baton_executable_environment*, const baton_dispatch_state* dispatch,
          const baton_workgroup_state* workgroup) {
  if (workgroup->id_x + 1 != dispatch->workgroup_count_x) return 0;
  const int signal = *static_cast<const int*>(dispatch->bindings[0]);
  // A fault of the address is made, for its address is told; the others are sent, for compilers and processors differ in what
  // makes them.
  volatile uintptr_t nowhere = 0x10;  // Compilers that know the address refuse it.
  if (signal == SIGSEGV) *reinterpret_cast<volatile char*>(nowhere) = 1;
  if (signal != 0) raise(signal);
  return 0;
}

const baton_executable_library* query(uint32_t, const baton_executable_environment*) {
  static const baton_kernel kernels[] = {crash};
  static const char* const names[] = {"crash"};
  static baton_executable_library library = {};
  library.struct_size = sizeof library;
  library.version = BATON_EXECUTABLE_LIBRARY_VERSION;
  library.name = "crashing";
  library.kernel_count = 1;
  library.kernels = kernels;
  library.kernel_names = names;
  return &library;
}

Status run(const char* device_path, int signal) {
  Options options;
  options.libraries.push_back({"crashing", query});
  BATON_TRY_ASSIGN(const Ref<Device> device, make_driver(std::move(options))->open(device_path, {}));
  const std::string_view name = "crashing";
  const ExecutableVariant variant{"static-library", std::as_bytes(std::span(name))};
  BATON_TRY_ASSIGN(const auto executable, device->make_executable({.name = "crashes.mlir", .variants = {&variant, 1}}));
  BATON_TRY_ASSIGN(const auto buffer, device->allocator().allocate({.length = 16}));
  {
    BATON_TRY_ASSIGN(const auto mapping, buffer->map(Access::kWrite));
    mapping.as<int>()[0] = signal;
  }
  const Binding bindings[] = {buffer};
  BATON_TRY_ASSIGN(const auto commands, device->make_command_buffer());
  BATON_TRY(commands->dispatch({.executable = executable.get(), .grid = {5, 1, 1}, .bindings = bindings}));
  BATON_TRY_ASSIGN(const auto recording, commands->finish());
  BATON_TRY(device->queue().execute({}, *recording));
  return device->queue().wait_idle();
}

void name_and_run(const char* device_path, int signal) {
  name_kernel_crashes();
  name_kernel_crashes();  // Once is enough, and twice does no harm.
  const Status status = run(device_path, signal);
  std::fputs(text("No crash: ", status.message(), "\n").c_str(), stderr);
}

class KernelCrashTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { testing_support::end_processes_that_begin_anew(); }
};

TEST_P(KernelCrashTest, AnAddressIsTold) {
  EXPECT_DEATH(name_and_run(GetParam(), SIGSEGV),
               "Kernel 'crash' of executable 'crashes.mlir' crashed in workgroup \\(4, 0, 0\\) with SIGSEGV at address "
               "0x10\\.");
}

TEST_P(KernelCrashTest, OtherSignals) {
  EXPECT_DEATH(name_and_run(GetParam(), SIGILL), "crashed in workgroup \\(4, 0, 0\\) with SIGILL\\.");
  EXPECT_DEATH(name_and_run(GetParam(), SIGFPE), "crashed in workgroup \\(4, 0, 0\\) with SIGFPE\\.");
  EXPECT_DEATH(name_and_run(GetParam(), SIGBUS), "crashed in workgroup \\(4, 0, 0\\) with SIGBUS");
}

// As the VM says it: whose call records.
CallPlace::Named name_of_module(const CallPlace::Module&, uint32_t word) {
  if (word == 0) return {.module = "image", .file = {}};
  return {"image", "image.mlir", word, 8};
}
int places_held = 0, places_kept = 0;
constexpr CallPlace::Module kModule = {.retain = [](const CallPlace::Module&) { ++places_held, ++places_kept; },
                                       .release = [](const CallPlace::Module&) { --places_held; },
                                       .name = name_of_module};
void crash_at(const char* device_path, uint32_t word) {
  WorkLimits limits;
  limits.caller = {[](const void* self) { return CallPlace{&kModule, *static_cast<const uint32_t*>(self)}; }, &word};
  const WorkLimits::Scope scope(&limits);
  name_and_run(device_path, SIGSEGV);
}

TEST_P(KernelCrashTest, ThePlaceInTheProgramIsTold) {
  EXPECT_DEATH(crash_at(GetParam(), 12),
               "of executable 'crashes.mlir', recorded by module 'image' at image.mlir:12:8, crashed in workgroup");
  EXPECT_DEATH(crash_at(GetParam(), 0),
               "of executable 'crashes.mlir', recorded by module 'image', crashed in workgroup");
}

// What names the place lives as long as the recording.
TEST_P(KernelCrashTest, RecordingsKeepThePlaceAlive) {
  name_kernel_crashes();
  {
    WorkLimits limits;
    limits.caller = {[](const void*) { return CallPlace{&kModule, 1}; }, nullptr};
    const WorkLimits::Scope scope(&limits);
    ASSERT_OK(run(GetParam(), 0));  // No signal: the kernel returns.
  }
  EXPECT_EQ(places_held, 0);
  EXPECT_EQ(std::exchange(places_kept, 0), 1);
}

INSTANTIATE_TEST_SUITE_P(Devices, KernelCrashTest, testing::Values("sync", "task"),
                         [](const auto& device) { return std::string(device.param); });

TEST(KernelCrashTest, OutsideOfKernelsOthersAreAsked) {
  testing_support::end_processes_that_begin_anew();
  const auto crash_outside = [] {
    signal(SIGFPE, [](int) {
      constexpr std::string_view kSaid = "The host's own handler.\n";
      const ssize_t written = ::write(STDERR_FILENO, kSaid.data(), kSaid.size());
      _exit(written > 0 ? 3 : 4);
    });
    name_kernel_crashes();
    raise(SIGFPE);
  };
  EXPECT_EXIT(crash_outside(), testing::ExitedWithCode(3), "^The host's own handler");
}

}  // namespace
}  // namespace baton::hal::drivers::local
