// What the two local backends share.
#pragma once

#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {

Result<Ref<Device>> open_local(std::string_view path);
ExecutableVariant local_kernels();

}  // namespace baton::hal::conformance
