// Which sanitizer this build has, in the numbers of executable_library.h: code of another one must not run here.
#pragma once

#include "base/sanitizers.hpp"
#include "hal/drivers/local/executable_library.h"

namespace baton::hal::drivers::local {

#if BATON_ADDRESS_SANITIZER
inline constexpr uint32_t kHostSanitizer = BATON_SANITIZER_ADDRESS;
#elif BATON_THREAD_SANITIZER
inline constexpr uint32_t kHostSanitizer = BATON_SANITIZER_THREAD;
#elif BATON_MEMORY_SANITIZER
inline constexpr uint32_t kHostSanitizer = BATON_SANITIZER_MEMORY;
#else
inline constexpr uint32_t kHostSanitizer = BATON_SANITIZER_NONE;
#endif

}  // namespace baton::hal::drivers::local
