// Threads of devices: how one starts, how it is waited for when the device goes, and when the process ends.
//
// A driver's library takes itself apart when the process ends, and a thread that lets go of something meanwhile crashes
// in it. So the end of the process asks every thread of a device to leave, and waits for it. The thread may be the last
// that holds its device: it counts until it has let go of it.
// Threads: any.
#pragma once

#include <cstdlib>
#include <thread>

#include "base/ref.hpp"

namespace baton::hal {

// Whose thread it is.
class DeviceThreadOwner {
 public:
  // What the thread does until it is asked to end.
  virtual void work() = 0;
  // The process ends: work() shall return as soon as what finished work kept is let go of. May be called again, and
  // under a lock that a thread takes to start: it takes none of the owner's.
  virtual void leave() = 0;

 protected:
  ~DeviceThreadOwner() = default;
};

namespace device_threads {

void add(DeviceThreadOwner& owner);
// The thread works no more, and lets go of its owner.
void remove(DeviceThreadOwner& owner);
void ended();
// The end of the process.
void end();

}  // namespace device_threads

// The driver's library is open: the end that is registered here runs before the library's own.
template <typename Owner>
std::thread start_device_thread(Ref<Owner> owner) {
  static const int registered = std::atexit(device_threads::end);
  static_cast<void>(registered);
  device_threads::add(*owner);
  return std::thread([owner = std::move(owner)]() mutable {
    owner->work();
    device_threads::remove(*owner);
    owner = {};
    device_threads::ended();
  });
}

// `thread` was told to end. The last reference to the device may go on that very thread: then it ends by itself, a
// little later.
void end_thread(std::thread thread);

}  // namespace baton::hal
