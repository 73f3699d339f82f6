// Kernels that check their accesses, on the fake GPU: what they write down becomes the status of their execution and of no
// other, on a stream and in a graph, and the device goes on.
#include "hal/drivers/cuda/access_watch.hpp"

#include "base/bytes.hpp"
#include "hal/commands/all.hpp"
#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using testing_support::fake_cuda;
using testing_support::FakeKernel;
using testing_support::FakeLaunch;

// (binding, index, value, length of the binding, what failed)
const FakeKernel kChecked = {"checked", {8, 4, 4, 8, 8}, [](const FakeLaunch& launch) {
                               auto* binding = load_bytes<uint32_t*>(launch.parameters);
                               const auto index = load_bytes<uint32_t>(launch.parameters + 8);
                               const auto length = load_bytes<uint64_t>(launch.parameters + 16);
                               auto* failed = load_bytes<FailedAccess*>(launch.parameters + 24);
                               if (uint64_t{index} * 4 + 4 <= length) {
                                 binding[index] = load_bytes<uint32_t>(launch.parameters + 12);
                               } else if (failed->number == 0) {
                                 *failed = {2, {1, 0, 0}, int64_t{index} * 4, length};
                               }
                             }};

class AccessWatchTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    device_ = open_fake(GetParam());
    fake_cuda().kernels.push_back(kChecked);
    fake_cuda().constants.emplace_back(kAccessChecksSymbol,
                                       "reads 4 bytes of binding 0\ta.mlir:1:2\n"
                                       "writes 4 bytes of binding 0\ta.mlir:3:4\n");
    static const EntryPoint expected{.name = "checked", .constant_count = 2, .binding_count = 1};
    executable_ = load({&expected, 1});
  }
  Ref<hal::Executable> load(std::span<const EntryPoint> expected) {
    static constexpr std::string_view kCode = "checked";
    const ExecutableVariant variant{"cuda-ptx", std::as_bytes(std::span(kCode))};
    return device_->make_executable({.name = "e", .variants = {&variant, 1}, .expected = expected}).value();
  }
  // Dispatch i writes i + 1 at the index in constant slot i, up to the end of slot 0.
  Ref<hal::Recording> record(uint32_t dispatches) {
    auto commands = device_->make_command_buffer({.slot_count = 1, .constant_slot_count = dispatches}).value();
    for (uint32_t i = 0; i < dispatches; ++i) {
      const uint32_t constants[] = {0, i + 1};
      const ConstantSlot slots[] = {{0, i}};
      const Binding bindings[] = {Binding(Slot{0}, 4)};
      EXPECT_OK(commands->dispatch(
          {.executable = executable_.get(), .constants = constants, .constant_slots = slots, .bindings = bindings}));
      EXPECT_OK(commands->barrier({}));
    }
    return commands->finish().value();
  }
  Status execute(hal::Recording& recording, const Ref<hal::Buffer>& buffer, const std::vector<uint32_t>& indices) {
    const BufferRange table[] = {buffer};
    return run(*device_, recording, {.buffers = table, .constants = indices});
  }

  Ref<hal::Device> device_;
  Ref<hal::Executable> executable_;
};

TEST_P(AccessWatchTest, OnlyTheExecutionThatFailedFails) {
  const auto recording = record(1);
  const auto four = buffer_of(*device_, {0, 0, 0, 0}), two = buffer_of(*device_, {0, 0});
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_OK(execute(*recording, four, {2}));
    EXPECT_FAILS(execute(*recording, four, {3}), StatusCode::kOutOfRange,
                 "Kernel 'checked' of executable 'e' writes 4 bytes of binding 0 at byte 12, which has 12 bytes "
                 "(a.mlir:3:4); in workgroup (1, 0, 0).");
    // The length is that of the table.
    EXPECT_FAILS(execute(*recording, two, {2}), StatusCode::kOutOfRange, "at byte 8, which has 4 bytes");
    EXPECT_OK(execute(*recording, two, {0}));
  }
  EXPECT_EQ(values_of(*four), (std::vector<uint32_t>{0, 0, 0, 1}));
  EXPECT_EQ(values_of(*two), (std::vector<uint32_t>{0, 1}));
}

TEST_P(AccessWatchTest, TheFirstOfManyIsTold) {
  constexpr uint32_t kDispatches = 150;
  const auto recording = record(kDispatches);
  const auto buffer = buffer_of(*device_, std::vector<uint32_t>(8));
  std::vector<uint32_t> indices(kDispatches, 0);
  indices[70] = 100;
  indices[149] = 200;
  EXPECT_FAILS(execute(*recording, buffer, indices), StatusCode::kOutOfRange, "at byte 400, which has 28 bytes");
  indices[70] = 1;
  EXPECT_FAILS(execute(*recording, buffer, indices), StatusCode::kOutOfRange, "at byte 800, which has 28 bytes");
  indices[149] = 2;
  EXPECT_OK(execute(*recording, buffer, indices));
  EXPECT_EQ(values_of(*buffer), (std::vector<uint32_t>{0, 149, 71, 150, 0, 0, 0, 0}));
}

TEST_P(AccessWatchTest, ParametersThatCheckAreNoBindings) {
  for (const auto& executable : {executable_, load({})}) {
    const EntryPoint& entry = executable->entry_points()[0];
    EXPECT_EQ(entry.binding_count, 1u);
    EXPECT_EQ(entry.constant_count, 2u);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, AccessWatchTest, testing::Values("stream", "graph", "auto"));

}  // namespace
}  // namespace baton::hal::drivers::cuda
