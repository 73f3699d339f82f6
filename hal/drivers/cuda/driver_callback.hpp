// DriverCallback: this thread runs a function that the CUDA driver called, where no CUDA call is allowed.
//
// A host function may signal a semaphore; work that waited for it must then be enqueued by another thread.
#pragma once

namespace baton::hal::drivers::cuda {

class DriverCallback {
 public:
  DriverCallback() { inside_ = true; }
  ~DriverCallback() { inside_ = false; }
  static bool inside() { return inside_; }

 private:
  inline static thread_local bool inside_ = false;
};

}  // namespace baton::hal::drivers::cuda
