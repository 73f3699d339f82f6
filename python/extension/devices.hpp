// Device: an open device as Python holds it.
//
// Programs and tensors share it. Its threads do not survive a fork: in a child process it refuses work, and it is never
// destroyed there.
// Threads: internally synchronized.
#pragma once

#include <atomic>
#include <string>

#include "hal/device.hpp"
#include "python/extension/python_lock.hpp"

namespace baton::python {

class OpenDevice final {
 public:
  // `uri`: what find() finds it by; empty for a device that others do not get.
  OpenDevice(Ref<hal::Device> device, std::string uri);
  ~OpenDevice();
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;

  void retain() { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  hal::Device& device() const { return *device_; }
  const Ref<hal::Device>& shared() const { return device_; }
  bool is_last() const { return count_.load(std::memory_order_acquire) == 1; }
  // FAILED_PRECONDITION in a process that was forked after a device with threads was opened.
  Status check_usable() const { return generation_ == fork_generation() ? Status() : refuse_after_fork(); }

  // The device that was opened by this text in this process and is still held; null when there is none.
  static Ref<OpenDevice> find(const std::string& uri);
  // In the child: keeps every device that is open from being destroyed.
  static void keep_all();

 private:
  Status refuse_after_fork() const;

  // False when it is being destroyed already.
  bool retain_if_alive();

  std::atomic<uint32_t> count_{1};
  Ref<hal::Device> device_;
  std::string uri_;
  uint64_t generation_;
  bool has_threads_;
};

// Drops a reference to a device; when it was the last one, without the lock. Needs the lock.
void release_device(Ref<OpenDevice> device);

// What Python sees.
struct Device {
  Ref<OpenDevice> open;
  Device() = default;
  Device(const Device&) = default;
  Device(Device&&) = default;
  explicit Device(Ref<OpenDevice> shared) : open(std::move(shared)) {}
  ~Device() { release_device(std::move(open)); }
  hal::Device& hal() const { return open->device(); }
};

void bind_devices(nb::module_& module);

}  // namespace baton::python
