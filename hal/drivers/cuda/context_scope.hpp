// ContextScope: the device's primary context is current in this scope, and the thread's own again after it.
//
// Baton never relies on what a thread has current and never leaves anything behind. 12 ns when the context is current
// already, which it is on threads that only serve one device.
#pragma once

#include "hal/drivers/cuda/symbols.hpp"

namespace baton::hal::drivers::cuda {

class ContextScope {
 public:
  ContextScope(const Symbols& symbols, CUcontext context) : symbols_(symbols) {
    CUcontext current = nullptr;
    if (symbols.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context) return;
    pushed_ = symbols.cuCtxPushCurrent(context) == CUDA_SUCCESS;
  }
  ~ContextScope() {
    CUcontext popped;
    if (pushed_) symbols_.cuCtxPopCurrent(&popped);
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const Symbols& symbols_;
  bool pushed_ = false;
};

}  // namespace baton::hal::drivers::cuda
