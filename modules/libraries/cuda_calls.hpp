// What every library of NVIDIA's needs: a context that is current, and codes that become statuses.
#pragma once

#include "modules/libraries/shared_library.hpp"

namespace baton::libraries {

inline sdk::Status status_of_call(const char* call, int code) {
  if (code == 0) return {};
  return sdk::failure(sdk::StatusCode::kInternal, call, " failed with ", code, ".");
}

// The context of a CUDA device, current on this thread while this lives. Without a driver there is none to be current.
class CurrentContext {
 public:
  explicit CurrentContext(void* context) {
    static const Driver driver;
    if (driver.push && context && driver.push(context) == 0) pop_ = driver.pop;
  }
  CurrentContext(const CurrentContext&) = delete;
  ~CurrentContext() {
    void* popped = nullptr;
    if (pop_) pop_(&popped);
  }

 private:
  struct Driver {
    Driver() {
      auto library = SharedLibrary::open({"libcuda.so.1"});
      if (!library.has_value() || !library.value().find("cuCtxPushCurrent_v2", push).ok()) return;
      if (!library.value().find("cuCtxPopCurrent_v2", pop).ok()) push = nullptr;
    }
    int (*push)(void* context) = nullptr;
    int (*pop)(void** context) = nullptr;
  };
  int (*pop_)(void** context) = nullptr;
};

}  // namespace baton::libraries
