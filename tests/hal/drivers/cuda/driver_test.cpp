// The driver on the fake GPU: what is told when there is no driver, no device or an old one; devices by index and by
// UUID.
#include "hal/drivers/cuda/driver.hpp"

#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using testing_support::fail_next;
using testing_support::fake_cuda;
using testing_support::make_fake_cuda;

TEST(DriverTest, SaysWhyThereIsNoDevice) {
  const auto symbols = make_fake_cuda();
  fake_cuda().device_count = 0;
  EXPECT_FAILS(make_driver({symbols})->list(), StatusCode::kUnavailable, "No CUDA device: the driver sees none.");
  fake_cuda().device_count = 1;
  fake_cuda().init_result = CUDA_ERROR_NO_DEVICE;
  EXPECT_FAILS(make_driver({symbols})->open("", {}), StatusCode::kUnavailable, "No CUDA device");
  fake_cuda().init_result = CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
  EXPECT_FAILS(make_driver({symbols})->list(), StatusCode::kUnavailable,
               "The CUDA driver (13.0) does not start: CUDA_ERROR_FAKE (803");
  fake_cuda().init_result = CUDA_SUCCESS;
  fake_cuda().driver_version = 12020;
  EXPECT_FAILS(make_driver({symbols})->list(), StatusCode::kUnavailable,
               "The CUDA driver (12.2) is too old: it has no 'cuKernelGetParamInfo'; Baton needs 12.4 or newer.");
}

TEST(DriverTest, OpensByIndexAndByUuid) {
  const auto symbols = make_fake_cuda();
  fake_cuda().device_count = 2;
  const auto driver = make_driver({symbols});
  const auto devices = driver->list().value();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1].path, "1");
  EXPECT_EQ(devices[1].description,
            "Fake GPU 1, sm_90, 1024 MiB, 4 multiprocessors, driver 13.0, "
            "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f");
  EXPECT_EQ(driver->open("", {}).value()->name(), "cuda://0");
  EXPECT_EQ(driver->open("1", {}).value()->name(), "cuda://1");
  EXPECT_EQ(driver->open("GPU-10111213", {}).value()->name(), "cuda://1");
  EXPECT_FAILS(driver->open("2", {}), StatusCode::kNotFound, "There is no CUDA device '2'; there are: 0 (GPU-0001");
  EXPECT_FAILS(driver->open("GPU", {}), StatusCode::kNotFound, "There is no CUDA device 'GPU'");
}

TEST(DriverTest, RefusesParametersItDoesNotKnow) {
  const auto driver = make_driver({make_fake_cuda()});
  for (const DeviceParameter& bad : {DeviceParameter{"cuda_mode", "fast"}, DeviceParameter{"cuda_streams", "17"},
                                     DeviceParameter{"cuda_streams", "0"}, DeviceParameter{"cuda_legacy_stream", "1"},
                                     DeviceParameter{"graph", "1"}}) {
    EXPECT_FAILS(driver->open("", {&bad, 1}), StatusCode::kInvalidArgument, "Device cuda has no parameter '");
  }
}

TEST(DriverTest, AFailedCallNamesItselfAndItsCode) {
  const auto device = open_fake("stream");
  const auto buffer = buffer_of(*device, {0, 0});
  fail_next("cuMemsetD32Async", CUDA_ERROR_INVALID_VALUE);
  auto commands = device->make_command_buffer({.name = "one"}).value();
  EXPECT_OK(commands->fill_buffer({.target = buffer, .pattern = 1}));
  EXPECT_FAILS(run(*device, *commands->finish().value()), StatusCode::kInvalidArgument,
               "cuMemsetD32Async failed: CUDA_ERROR_FAKE (1, a test ordered it).\n  in recording \"one\"");
}

TEST(DriverTest, TellsFacts) {
  const auto device = open_fake("auto");
  EXPECT_EQ(device->query("hal.device", "architecture").value(), 90);
  EXPECT_EQ(device->query("hal.executable.format", "cuda-sm_90").value(), 1);
  EXPECT_EQ(device->query("hal.executable.format", "vulkan-spirv").value(), 0);
  EXPECT_FAILS(device->query("hal.device", "smell"), StatusCode::kNotFound, "knows nothing about");
  // 2 GHz twice over 640 bytes; 4 multiprocessors of 128 units at 1.5 GHz.
  EXPECT_EQ(device->query("hal.device", "peak_bytes_per_second").value(), 2'560'000'000'000);
  EXPECT_EQ(device->query("hal.device", "peak_f32_flops_per_second").value(), 1'536'000'000'000);
}

// A driver that does not tell its clocks is no device of no speed.
TEST(DriverTest, WhatIsNotToldIsNoPeak) {
  const auto symbols = make_fake_cuda();
  fake_cuda().memory_clock_khz = 0;
  const auto driver = make_driver({symbols});
  const auto device = driver->open("", {}).value();
  EXPECT_FAILS(device->query("hal.device", "peak_bytes_per_second"), StatusCode::kNotFound, "knows nothing about");
  EXPECT_OK(device->query("hal.device", "peak_f32_flops_per_second"));
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
