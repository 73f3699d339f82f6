// What the processor can do, as words that kernels and imported functions read (baton_processor).
//
// x86_64, data[0]: bit 0 sse3, 1 ssse3, 2 sse4.1, 3 sse4.2, 4 avx, 5 fma, 6 f16c, 7 avx2, 8 bmi, 9 bmi2, 10 popcnt,
// 16 avx512f, 17 avx512cd, 18 avx512bw, 19 avx512dq, 20 avx512vl, 21 avx512vnni, 22 avx512bf16.
// aarch64, data[0]: AT_HWCAP, data[1]: AT_HWCAP2, as the kernel tells them.
#pragma once

#include <string>

#include "hal/drivers/local/executable_library.h"

namespace baton::hal::drivers::local {

const baton_processor& host_processor();
// The same as words: "sse3 ssse3 ... avx2"; on aarch64 the two masks.
std::string processor_features();

}  // namespace baton::hal::drivers::local
