// What baton-devices says of drivers with devices, without, and left out: with the CUDA driver on the fake GPU, so that
// a GPU's facts are seen where there is none.
#include "tools/support/device_report.hpp"

#include "tests/support/status_matchers.hpp"
#if BATON_HAS_CUDA
#include "tests/support/fake_cuda.hpp"
#endif

namespace baton::tools {
namespace {

using testing::HasSubstr;

class BrokenDriver final : public hal::Driver {
 public:
  std::string_view name() const override { return "broken"; }
  Result<std::vector<hal::DeviceInfo>> list() override { return failure(StatusCode::kInternal, "It is broken."); }
  Result<Ref<hal::Device>> open(std::string_view, std::span<const hal::DeviceParameter>) override {
    return failure(StatusCode::kInternal, "It is broken.");
  }
};

TEST(DeviceReportTest, ADriverThatFailsDoesNotHideTheOthers) {
  hal::DriverRegistry registry;
  ASSERT_OK(registry.add(std::make_unique<BrokenDriver>()));
  ASSERT_OK(registry.add(hal::drivers::local::make_driver()));
  const hal::drivers::LeftOutDriver left_out[] = {{"vulkan", "It was left out."}};
  const auto drivers = ask_drivers(registry, left_out);
  const std::string text = devices_text(drivers);
  EXPECT_THAT(text,
              HasSubstr("broken: could not be asked\n  It is broken.\nlocal: 2 devices\n  --device=local-sync\n"));
  EXPECT_THAT(text, HasSubstr("vulkan: not in this build\n  It was left out.\n"));
  EXPECT_THAT(devices_json(drivers), HasSubstr("\"reason\": \"It was left out.\""));
}

#if BATON_HAS_CUDA
TEST(DeviceReportTest, AGpuTellsWhatItIs) {
  hal::DriverRegistry registry;
  ASSERT_OK(registry.add(hal::drivers::cuda::make_driver({testing_support::make_fake_cuda()})));
  testing_support::fake_cuda().device_count = 2;
  const std::string text = devices_text(ask_drivers(registry, {}));
  EXPECT_THAT(text, HasSubstr("cuda: 2 devices\n  --device=cuda://0\n    Fake GPU 0, sm_90"));
  EXPECT_THAT(text, HasSubstr("    memory_bytes          1073741824 (1024 MiB)\n"));
  EXPECT_THAT(text, HasSubstr("    driver_version        13.0\n"));
  EXPECT_THAT(text, HasSubstr("    features              streams graphs capture memory-pools cooperative-launch\n"));
  EXPECT_THAT(text, HasSubstr("  --device=cuda://1\n"));
  EXPECT_THAT(devices_json(ask_drivers(registry, {})), HasSubstr("\"memory_bytes\": 1073741824,"));
}

TEST(DeviceReportTest, AMachineWithoutAGpuSaysWhy) {
  hal::DriverRegistry registry;
  ASSERT_OK(registry.add(hal::drivers::cuda::make_driver({testing_support::make_fake_cuda()})));
  testing_support::fake_cuda().device_count = 0;
  EXPECT_EQ(devices_text(ask_drivers(registry, {})),
            "cuda: no device on this machine\n  No CUDA device: the driver sees none.\n");
}
#endif

}  // namespace
}  // namespace baton::tools
