#include "hal/drivers/cuda/driver.hpp"
#include "tests/conformance/backends/cuda.hpp"
#include "tests/support/embedded_ptx.hpp"
#include "tests/support/fake_cuda.hpp"

namespace baton::hal::conformance {
namespace {

Result<Ref<Device>> open(Driver& driver, std::string_view mode, std::string_view streams) {
  const DeviceParameter parameters[] = {{"cuda_mode", mode}, {"cuda_streams", streams}};
  return driver.open("", parameters);
}

}  // namespace

Result<Ref<Device>> open_cuda(std::string_view mode, std::string_view streams) {
  static const auto driver = drivers::cuda::make_driver();
  auto device = open(*driver, mode, streams);
  if (device.has_value() || device.error().code() != StatusCode::kUnavailable) return device;
  return failure(StatusCode::kUnavailable, "skipped: no CUDA device (", device.error().message(), ")");
}

Result<Ref<Device>> open_fake_cuda(std::string_view mode, std::string_view streams) {
  static const auto driver = [] {
    drivers::cuda::Options options{testing_support::make_fake_cuda()};
    testing_support::fake_cuda().kernels = testing_support::fake_conformance_kernels();
    return drivers::cuda::make_driver(std::move(options));
  }();
  return open(*driver, mode, streams);
}

std::vector<ExecutableVariant> cuda_kernels() {
  return {{"cuda-ptx", std::as_bytes(std::span(testing_support::conformance_ptx()))}};
}

std::vector<ExecutableVariant> fake_cuda_kernels() {
  static constexpr std::string_view names = "add scale write_ids local_sum fail";
  return {{"cuda-ptx", std::as_bytes(std::span(names))}};
}

std::vector<Exemption> cuda_unsupported() {
  std::vector<Exemption> list = {{"AFailingKernelFailsTheWork", "a CUDA kernel returns nothing that could say no"}};
  if (testing_support::conformance_ptx().empty()) list.push_back({"", "built without nvcc: there are no kernels"});
  return list;
}

}  // namespace baton::hal::conformance
