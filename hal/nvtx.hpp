// NVTX: what NVIDIA's profilers (Nsight Systems, Nsight Compute) take as named ranges of threads. Opened at run time, where somebody
// asks: CUDA's libnvToolsExt, or from CUDA 13 on libnvtx3interop, which the wheel nvidia-nvtx has, too. Without a profiler in
// the process a range costs a call.
#pragma once

#include "base/result.hpp"
#include "base/timeline.hpp"

namespace baton::hal {

// For Timeline::mirror(). UNAVAILABLE, with the reason, where there is none. BATON_NVTX names another library.
Result<Timeline::Ranges> nvtx_ranges();

}  // namespace baton::hal
