// A CUDA device for a test: of the fake GPU, or of the machine's, where there is one.
#pragma once

#include "hal/commands/all.hpp"
#include "hal/drivers/cuda/device.hpp"
#include "hal/drivers/cuda/driver.hpp"
#include "tests/support/embedded_ptx.hpp"
#include "tests/support/fake_cuda.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::cuda {

inline Result<Ref<hal::Device>> open_real(std::string_view mode, std::string_view check = "0") {
  const DeviceParameter parameters[] = {
      {"cuda_mode", mode}, {"cuda_capture_check", check}, {"cuda_legacy_stream", "guarded"}};
  return make_driver()->open("", parameters);
}

// Fresh: what an earlier test logged is gone.
inline Ref<hal::Device> open_fake(std::string_view mode, std::string_view check = "0",
                                  std::vector<DeviceFunctions> functions = {},
                                  std::shared_ptr<const DeviceLinker> linker = nullptr) {
  const DeviceParameter parameters[] = {
      {"cuda_mode", mode}, {"cuda_capture_check", check}, {"cuda_legacy_stream", "guarded"}};
  Options options{
      .symbols = testing_support::make_fake_cuda(), .functions = std::move(functions), .linker = std::move(linker)};
  testing_support::fake_cuda().kernels = testing_support::fake_conformance_kernels();
  return make_driver(std::move(options))->open("", parameters).value();
}

inline Ref<hal::Executable> load_kernels(hal::Device& device, std::string_view code) {
  static const EntryPoint expected[] = {
      {.name = "scale", .constant_count = 2, .binding_count = 1, .workgroup_size = {64, 1, 1}},
      {.name = "add", .constant_count = 1, .binding_count = 3, .workgroup_size = {64, 1, 1}}};
  const ExecutableVariant variant{"cuda-ptx", std::as_bytes(std::span(code))};
  return device.make_executable({.name = "kernels", .variants = {&variant, 1}, .expected = expected}).value();
}
inline constexpr std::string_view kFakeCode = "scale add write_ids local_sum fail";

inline Ref<hal::Buffer> buffer_of(hal::Device& device, const std::vector<uint32_t>& values) {
  auto buffer = device.allocator().allocate({.length = values.size() * 4}).value();
  auto mapping = buffer->map(Access::kDiscardWrite);
  std::memcpy(mapping->bytes().data(), values.data(), values.size() * 4);
  return buffer;
}
inline std::vector<uint32_t> values_of(hal::Buffer& buffer) {
  const auto mapping = buffer.map(Access::kRead);
  const auto values = mapping->as<uint32_t>();
  return {values.begin(), values.end()};
}

inline Status run(hal::Device& device, hal::Recording& recording, const BindingTable& table = {}) {
  const auto done = device.make_semaphore(0).value();
  const SemaphorePoint signal(done, 1);
  BATON_TRY(device.queue().execute({{}, {&signal, 1}}, recording, table));
  return done->wait(1, 10'000'000'000);
}

}  // namespace baton::hal::drivers::cuda
