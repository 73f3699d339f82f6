// What every library of NVIDIA's needs: a context that is current, and codes that become statuses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "modules/libraries/shared_library.hpp"

namespace baton::libraries {

inline sdk::Status status_of_call(const char* call, int code) {
  if (code == 0) return {};
  return sdk::failure(sdk::StatusCode::kInternal, call, " failed with ", code, ".");
}

// What of the driver is called, opened once; null where there is none.
struct DriverCalls {
  static const DriverCalls* find() {
    static const DriverCalls calls;
    return calls.is_whole_ ? &calls : nullptr;
  }

  int (*push)(void* context) = nullptr;
  int (*pop)(void** context) = nullptr;
  int (*allocate)(uint64_t* address, size_t bytes) = nullptr;
  int (*free)(uint64_t address) = nullptr;
  int (*create_stream)(void** stream, unsigned flags) = nullptr;
  int (*destroy_stream)(void* stream) = nullptr;
  int (*wait_for_stream)(void* stream) = nullptr;

 private:
  DriverCalls() {
    auto library = SharedLibrary::open({"libcuda.so.1"});
    if (!library.has_value()) return;
    const SharedLibrary& calls = library.value();
    is_whole_ = calls.find("cuCtxPushCurrent_v2", push).ok() && calls.find("cuCtxPopCurrent_v2", pop).ok() &&
                calls.find("cuMemAlloc_v2", allocate).ok() && calls.find("cuMemFree_v2", free).ok() &&
                calls.find("cuStreamCreate", create_stream).ok() &&
                calls.find("cuStreamDestroy_v2", destroy_stream).ok() &&
                calls.find("cuStreamSynchronize", wait_for_stream).ok();
  }
  bool is_whole_ = false;
};

// The context of a CUDA device, current on this thread while this lives. Without a driver there is none to be current.
class CurrentContext {
 public:
  explicit CurrentContext(void* context) {
    const DriverCalls* driver = DriverCalls::find();
    if (driver && context && driver->push(context) == 0) pop_ = driver->pop;
  }
  CurrentContext(const CurrentContext&) = delete;
  ~CurrentContext() {
    void* popped = nullptr;
    if (pop_) pop_(&popped);
  }

 private:
  int (*pop_)(void** context) = nullptr;
};

}  // namespace baton::libraries
