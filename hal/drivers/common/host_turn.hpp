// HostTurn: a thread of a device is in code of the host, a host call or a foreign one, and may wait there for whatever that
// code likes: for work of the same device on another thread, which then needs a thread of the device, too. Who owns the
// threads is told, and has another one ready when all of them are in such code.
//
// Threads: local variables, and a listener for each thread.
#pragma once

#include <chrono>
#include <cstddef>

namespace baton::hal {

// How long a task that is ready waits for a thread of the device when all are in code of the host, before there is one more:
// most of that code is through sooner.
inline constexpr std::chrono::milliseconds kSparePatience{1};
// There are no more threads than this for code of the host that waits for code of the host.
inline constexpr size_t kHostThreadsMax = 64;

class HostTurnListener {
 public:
  virtual void turn_begins() = 0;
  virtual void turn_ends() = 0;

  // Null: the thread is of no pool, or in a turn already.
  static inline thread_local constinit HostTurnListener* of_this_thread = nullptr;

 protected:
  ~HostTurnListener() = default;
};

class HostTurn {
 public:
  HostTurn() : listener_(HostTurnListener::of_this_thread) {
    if (!listener_) return;
    HostTurnListener::of_this_thread = nullptr;
    listener_->turn_begins();
  }
  ~HostTurn() {
    if (!listener_) return;
    listener_->turn_ends();
    HostTurnListener::of_this_thread = listener_;
  }
  HostTurn(const HostTurn&) = delete;
  HostTurn& operator=(const HostTurn&) = delete;

 private:
  HostTurnListener* const listener_;
};

}  // namespace baton::hal
