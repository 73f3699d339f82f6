// Which sanitizers this code is built with, each 0 or 1: g++ says it in its way, clang in its own.
#pragma once

#if defined(__has_feature)
#define BATON_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#define BATON_THREAD_SANITIZER __has_feature(thread_sanitizer)
#define BATON_MEMORY_SANITIZER __has_feature(memory_sanitizer)
#else
#ifdef __SANITIZE_ADDRESS__
#define BATON_ADDRESS_SANITIZER 1
#else
#define BATON_ADDRESS_SANITIZER 0
#endif
#ifdef __SANITIZE_THREAD__
#define BATON_THREAD_SANITIZER 1
#else
#define BATON_THREAD_SANITIZER 0
#endif
#define BATON_MEMORY_SANITIZER 0
#endif
