// Goal: why a kernel fails is told of that kernel alone: threads keep the place where kernels say it, from launch to launch.
// Method: kernels of a checked library, run one after the other, that fail by a check, by a number, or not at all.
#include "hal/drivers/local/launch.hpp"

#include <gtest/gtest.h>

#include "hal/allocator.hpp"
#include "hal/commands/dispatch.hpp"
#include "hal/drivers/local/driver.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "hal/semaphore.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::local {
namespace {

// Fails by the check of this number, which stands in the constant; by 7 for 100; by nothing for 0. Each first looks whether the place is clear.
int fail(const baton_executable_environment*, const baton_dispatch_state* dispatch,
         const baton_workgroup_state* workgroup) {
  baton_failed_check& failed = *workgroup->failed_check;
  if (failed.number != 0 || failed.offset != 0 || failed.size != 0) return 99;
  const uint32_t number = dispatch->constants[0];
  if (number == 0) return 0;
  if (number == 100) return 7;
  failed = {.number = number, .offset = 40 + number, .size = 16};
  return 1;
}

const baton_executable_library* query(uint32_t, const baton_executable_environment*) {
  static const baton_kernel kernels[] = {fail};
  static const char* const names[] = {"fail"};
  static const baton_access_check checks[] = {{"reads binding 0", "first.mlir:1:1"}, {"writes binding 1", ""}};
  static baton_checked_library checked = {};
  checked.library = {.struct_size = sizeof checked,
                     .version = BATON_EXECUTABLE_LIBRARY_VERSION_CHECKED,
                     .name = "checked",
                     .sanitizer = BATON_SANITIZER_NONE,
                     .constant_count = 0,
                     .import_count = 0,
                     .kernel_count = 1,
                     .imports = nullptr,
                     .kernels = kernels,
                     .kernel_names = names,
                     .kernel_attributes = nullptr};
  checked.checks = checks;
  checked.check_count = 2;
  return &checked.library;
}

Result<Ref<hal::Executable>> make_executable(Device& device) {
  const std::string_view name = "checked";
  const ExecutableVariant variant{"static-library", std::as_bytes(std::span(name))};
  const EntryPoint expected[] = {{.name = "fail", .constant_count = 1}};
  return device.make_executable({.name = "test", .variants = {&variant, 1}, .expected = expected});
}

Status run(Device& device, hal::Executable& executable, uint32_t number) {
  BATON_TRY_ASSIGN(const auto done, device.make_semaphore());
  BATON_TRY_ASSIGN(const auto commands, device.make_command_buffer());
  BATON_TRY(commands->dispatch({.executable = &executable, .grid = {1, 1, 1}, .constants = {&number, 1}}));
  BATON_TRY_ASSIGN(const auto recording, commands->finish());
  const SemaphorePoint signal(done, 1);
  BATON_TRY(device.queue().execute({.signals = {&signal, 1}}, *recording));
  return done->wait(1);
}

TEST(LaunchTest, AFailedCheckIsToldOfItsKernelAlone) {
  Options options;
  options.libraries.push_back({"checked", query});
  const Ref<Device> device = make_driver(std::move(options))->open("sync", {}).value();
  const Ref<hal::Executable> executable = make_executable(*device).value();
  const std::string kernel = "Kernel 'fail' of executable 'test' ";
  const std::string place = "in workgroup (0, 0, 0).";
  for (int round = 0; round < 2; ++round) {
    EXPECT_OK(run(*device, *executable, 0));
    EXPECT_EQ(run(*device, *executable, 1).message(),
              kernel + "reads binding 0 at byte 41, which has 16 bytes (first.mlir:1:1); " + place);
    EXPECT_EQ(run(*device, *executable, 100).message(), kernel + "returned 7 " + place);
    EXPECT_EQ(run(*device, *executable, 2).message(),
              kernel + "writes binding 1 at byte 42, which has 16 bytes; " + place);
    EXPECT_EQ(run(*device, *executable, 3).message(), kernel + "returned 1 " + place);
  }
}

}  // namespace
}  // namespace baton::hal::drivers::local
