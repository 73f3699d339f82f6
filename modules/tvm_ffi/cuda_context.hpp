// CudaContext: a device's primary context, current on this thread in a scope. Functions of TVM-FFI take that for granted:
// their callers, PyTorch for one, have it so.
// Threads: a local variable.
#pragma once

#include <cstdint>

namespace baton::modules::tvm_ffi {

class CudaContext {
 public:
  // Of device `ordinal`, whose tensors the call takes; where no CUDA driver is in the process nothing happens.
  explicit CudaContext(int32_t ordinal);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

 private:
  int device_ = 0;
  bool current_ = false;
};

}  // namespace baton::modules::tvm_ffi
