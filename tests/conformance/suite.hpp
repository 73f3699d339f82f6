// The conformance suite: one set of tests that every device passes.
//
// A test file derives from DeviceTest and says BATON_CONFORMANCE(its class). A backend file registers a Backend; that
// is all a new driver does to join. A backend whose device is not there is skipped with the reason; what a backend
// cannot do stands in `unsupported`, what it should and does not in `expected_failures` (and fails when it starts to
// work).
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/device.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::conformance {

struct Exemption {
  std::string_view pattern;  // Part of the test's full name.
  std::string_view reason;
};

struct Backend {
  std::string_view name;
  Result<Ref<Device>> (*open)();  // UNAVAILABLE: there is none here.
  bool computes = true;           // False: commands are accepted and not run.
  // The suite's kernels (kernels.h) in the backend's formats.
  std::vector<ExecutableVariant> kernels;
  std::vector<Exemption> unsupported = {};
  bool has_peers = false;  // Several of its devices may be ranks of one channel.
  std::vector<Exemption> expected_failures = {};
};

bool register_backend(Backend backend);
const std::vector<const Backend*>& all_backends();
std::string backend_test_name(const testing::TestParamInfo<const Backend*>& info);

// The entry points of the suite's kernels, by ordinal.
enum KernelOrdinal : uint32_t { kAdd, kScale, kWriteIds, kLocalSum, kFail, kKernelCount };

class DeviceTest : public testing::TestWithParam<const Backend*> {
 protected:
  void SetUp() override;
  void TearDown() override;

  Device& device() { return *device_; }
  Queue& queue() { return device_->queue(); }
  bool computes() const { return GetParam()->computes; }

  Ref<Semaphore> semaphore(uint64_t value = 0);
  Ref<Buffer> buffer(uint64_t length, BufferUsage usage = BufferUsage::kAll);
  template <typename T>
  Ref<Buffer> buffer_of(const std::vector<T>& values) {
    Ref<Buffer> made = buffer(values.size() * sizeof(T));
    auto mapping = made->map(Access::kDiscardWrite);
    std::copy(values.begin(), values.end(), mapping->template as<T>().begin());
    return made;
  }
  Ref<Executable> kernels();

  std::unique_ptr<CommandBuffer> record(const RecordingOptions& options = {});
  Ref<Recording> finish(CommandBuffer& commands);
  // Executes and waits; the status of the work.
  Status run(Recording& recording, const BindingTable& table = {});
  Status run(CommandBuffer& commands, const BindingTable& table = {}) { return run(*finish(commands), table); }

  // Where the device computes: `buffer` holds `values`. Elsewhere: it can be read.
  template <typename T>
  void expect_values(Buffer& buffer, const std::vector<T>& values, uint64_t offset = 0) {
    auto mapping = buffer.map(Access::kRead, offset, values.size() * sizeof(T));
    ASSERT_OK(mapping);
    const auto found = mapping->template as<T>();
    if (computes()) {
      EXPECT_EQ(std::vector<T>(found.begin(), found.end()), values);
    }
  }

 private:
  void expect_usable();
  const Exemption* find(const std::vector<Exemption>& exemptions) const;

  Ref<Device> device_;
};

}  // namespace baton::hal::conformance

#define BATON_CONFORMANCE(Test)                                                                         \
  INSTANTIATE_TEST_SUITE_P(Devices, Test, testing::ValuesIn(::baton::hal::conformance::all_backends()), \
                           ::baton::hal::conformance::backend_test_name)
