// What the CUDA backends share: devices of the machine's GPU and of the fake one, and what CUDA cannot do.
#pragma once

#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {

// UNAVAILABLE "skipped: no CUDA device (...)" where there is none.
Result<Ref<Device>> open_cuda(std::string_view mode, std::string_view streams);
Result<Ref<Device>> open_fake_cuda(std::string_view mode, std::string_view streams);

std::vector<ExecutableVariant> cuda_kernels();
std::vector<ExecutableVariant> fake_cuda_kernels();
std::vector<Exemption> cuda_unsupported();

}  // namespace baton::hal::conformance
