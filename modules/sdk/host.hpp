// The host that loaded this module, as seen from C++: set by the query function, before anything else of it runs. A
// module that is queried again sets it to the same table while threads of its earlier contexts may be reading it: hence
// atomic, which costs a plain load.
//
// Each shared library has its own pointer (hidden visibility), so two plugins never see each other's host; modules that
// are compiled into one program share it, as they share the host.
#pragma once

#include <atomic>

#include "modules/sdk/device.h"
#include "modules/sdk/host.h"
#include "modules/sdk/recording.h"

namespace baton::sdk {

namespace detail {
__attribute__((visibility("hidden"))) inline std::atomic<const baton_host*> bound_host{nullptr};
}

inline const baton_host& host() { return *detail::bound_host.load(std::memory_order_acquire); }

// What version 1 of the host has: all that a module without devices needs.
inline constexpr uint32_t kHostSizeV1 = offsetof(baton_host, devices);

// Whether this code can work with `table`; if so, host() is it from now on.
inline bool bind_host(const baton_host* table) {
  if (!table || table->struct_size < kHostSizeV1 || table->abi_version < 1) return false;
  detail::bound_host.store(table, std::memory_order_release);
  return true;
}

// Null in a host without devices, and in one of version 1. A caller that holds one of their objects has them.
inline const baton_device_table* device_table() { return host().struct_size > kHostSizeV1 ? host().devices : nullptr; }
inline const baton_recording_table* recording_table() {
  return host().struct_size > kHostSizeV1 ? host().recording : nullptr;
}

}  // namespace baton::sdk
