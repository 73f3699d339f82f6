// Device code of the tests inside the test programs, so that they run where they are copied. Empty where nvcc was
// missing.
#pragma once

#include <string_view>

namespace baton::testing_support {

// tests/conformance/kernels.cu
std::string_view conformance_ptx();
// The same as machine code for sm_75.
std::string_view conformance_cubin();

}  // namespace baton::testing_support
