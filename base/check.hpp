// Our own bugs stop the process where they happen: never a Status, never an optimizer assumption.
#pragma once

namespace baton {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace baton

// Stays on in release: for invariants that cost nothing beside what they guard.
#define BATON_CHECK(condition)                               \
  do {                                                       \
    if (!(condition)) [[unlikely]]                           \
      ::baton::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)

// Debug builds only: for hot paths whose proof stands elsewhere (name the proof beside it).
#ifndef NDEBUG
#define BATON_ASSERT(condition) BATON_CHECK(condition)
#else
#define BATON_ASSERT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif
