// How a thread of a device is waited for when the device goes.
#pragma once

#include <thread>

namespace baton::hal {

// `thread` was told to end. The last reference to the device may go on that very thread: then it ends by itself, a
// little later.
inline void end_thread(std::thread thread) {
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();
  } else {
    thread.join();
  }
}

}  // namespace baton::hal
