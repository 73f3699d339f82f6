// Whose call it is: one thread's at a time. Others wait; who asks inside of its own call is told so at once.
//
// A mutex costs two calls of the C library beside its two locked instructions, and does not say whose it is.
// Threads: internally synchronized.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "base/reference_count.hpp"

namespace baton::modules::tvm_ffi {

class Turn {
 public:
  Turn() = default;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // False: this thread has it already.
  [[nodiscard]] bool take() {
    const uintptr_t self = this_thread();
    if (is_single_threaded()) {
      if (taker_.load(std::memory_order_relaxed) != kNobody) return false;
      taker_.store(self, std::memory_order_relaxed);
      return true;
    }
    uintptr_t taker = kNobody;
    return taker_.compare_exchange_strong(taker, self, std::memory_order_acquire) || wait(self, taker);
  }

  void give_back() {
    if (is_single_threaded()) {
      taker_.store(kNobody, std::memory_order_relaxed);
    } else if (taker_.exchange(kNobody, std::memory_order_release) & kAwaited) {
      taker_.notify_all();
    }
  }

 private:
  static constexpr uintptr_t kNobody = 0;
  static constexpr uintptr_t kAwaited = 1;  // Beside the thread: others wait.

  // Not null, and even: where the C library keeps what it knows of the thread.
  static uintptr_t this_thread() {
#if __has_builtin(__builtin_thread_pointer) && (defined(__x86_64__) || defined(__aarch64__))
    return reinterpret_cast<uintptr_t>(__builtin_thread_pointer());  // Without a call.
#else
    return static_cast<uintptr_t>(pthread_self());
#endif
  }

  [[gnu::noinline]] bool wait(uintptr_t self, uintptr_t taker) {
    while ((taker & ~kAwaited) != self) {
      if (taker == kNobody) {
        // Others may wait still.
        if (taker_.compare_exchange_weak(taker, self | kAwaited, std::memory_order_acquire)) return true;
      } else if ((taker & kAwaited) || taker_.compare_exchange_weak(taker, taker | kAwaited)) {
        taker_.wait(taker | kAwaited, std::memory_order_relaxed);
        taker = taker_.load(std::memory_order_relaxed);
      }
    }
    return false;
  }

  std::atomic<uintptr_t> taker_{kNobody};
};

}  // namespace baton::modules::tvm_ffi
