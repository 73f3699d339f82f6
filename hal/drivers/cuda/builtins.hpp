// Builtins: the few kernels that the driver brings itself, compiled at their first use.
#pragma once

#include "hal/drivers/cuda/primary_context.hpp"

namespace baton::hal::drivers::cuda {

// Threads: internally synchronized.
class Builtins {
 public:
  static constexpr uint32_t kThreads = 256;

  explicit Builtins(Ref<PrimaryContext> context) : context_(std::move(context)) {}
  ~Builtins();

  // Without parameters: does nothing, in one thread.
  Result<CUkernel> nothing();
  // (address, count, pattern): writes the pattern of eight bytes `count` times.
  Result<CUkernel> wide_fill();

 private:
  const Ref<PrimaryContext> context_;
  Result<CUkernel> find(CUkernel& kernel, const char* name);

  std::mutex mutex_;
  CUlibrary library_ = nullptr;   // Guarded by mutex_.
  CUkernel nothing_ = nullptr;    // Guarded by mutex_.
  CUkernel wide_fill_ = nullptr;  // Guarded by mutex_.
};

}  // namespace baton::hal::drivers::cuda
