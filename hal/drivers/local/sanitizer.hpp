// Which sanitizer this build has, in the numbers of executable_library.h: code of another one must not run here.
#pragma once

#include "hal/drivers/local/executable_library.h"

namespace baton::hal::drivers::local {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr uint32_t kHostSanitizer = BATON_SANITIZER_ADDRESS;
#elif __has_feature(thread_sanitizer)
inline constexpr uint32_t kHostSanitizer = BATON_SANITIZER_THREAD;
#elif __has_feature(memory_sanitizer)
inline constexpr uint32_t kHostSanitizer = BATON_SANITIZER_MEMORY;
#else
inline constexpr uint32_t kHostSanitizer = BATON_SANITIZER_NONE;
#endif
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr uint32_t kHostSanitizer = BATON_SANITIZER_ADDRESS;
#elif defined(__SANITIZE_THREAD__)
inline constexpr uint32_t kHostSanitizer = BATON_SANITIZER_THREAD;
#else
inline constexpr uint32_t kHostSanitizer = BATON_SANITIZER_NONE;
#endif

}  // namespace baton::hal::drivers::local
