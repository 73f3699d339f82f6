#include "hal/drivers/common/device_thread.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <unordered_set>

namespace baton::hal {
namespace device_threads {
namespace {

// A notice to leave may come before its thread listens, so it is given again.
constexpr std::chrono::milliseconds kNoticePause{1};
// How long the end of the process waits for a thread that is in a host call of the user's.
constexpr std::chrono::seconds kLeavePause{1};

struct List {
  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_multiset<DeviceThreadOwner*>
      working;     // Guarded by mutex, one for each thread; it lives while it is in it.
  int ending = 0;  // Guarded by mutex.
};

// Never destroyed: a thread may be late.
List& list() {
  static List* const threads = new List();
  return *threads;
}

}  // namespace

void add(DeviceThreadOwner& owner) {
  const std::lock_guard lock(list().mutex);
  list().working.insert(&owner);
}

void remove(DeviceThreadOwner& owner) {
  const std::lock_guard lock(list().mutex);
  list().working.erase(list().working.find(&owner));
  ++list().ending;
}

void ended() {
  const std::lock_guard lock(list().mutex);
  --list().ending;
  list().changed.notify_all();
}

// No reference is taken: the last one to an owner must go on its own thread, this one has lost its thread_locals.
void end() {
  List& threads = list();
  std::unique_lock lock(threads.mutex);
  const auto give_up = std::chrono::steady_clock::now() + kLeavePause;
  while (!(threads.working.empty() && threads.ending == 0) && std::chrono::steady_clock::now() < give_up) {
    for (DeviceThreadOwner* owner : threads.working) owner->leave();
    threads.changed.wait_for(lock, kNoticePause);
  }
}

}  // namespace device_threads

void end_thread(std::thread thread) {
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();
  } else {
    thread.join();
  }
}

}  // namespace baton::hal
