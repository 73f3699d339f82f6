// Staging: memory of a device that the host sees, for bytes on their way to or from memory that it doesn't.
#pragma once

#include "hal/buffer.hpp"

namespace baton::hal {

class Device;

// Whether the host sees the buffer's memory.
bool can_map(const Buffer& buffer);

Result<Ref<Buffer>> make_staging(Device& device, uint64_t length);

}  // namespace baton::hal
