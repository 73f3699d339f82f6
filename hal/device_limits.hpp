// What a device can take. Plain numbers, copied where they are checked.
#pragma once

#include <cstdint>

#include "hal/interface/numbers.hpp"

namespace baton::hal {

struct DeviceLimits {
  uint32_t bindings_max = kDispatchBindingsMax;
  uint32_t constants_max = kDispatchConstantsMax;
  uint32_t grid_max[3] = {0x7fffffff, 0xffff, 0xffff};
  uint32_t local_memory_bytes_max = kLocalMemoryBytesMax;
  uint64_t update_bytes_max = 64 * 1024;
  uint64_t buffer_bytes_max = uint64_t{1} << 46;
};

}  // namespace baton::hal
