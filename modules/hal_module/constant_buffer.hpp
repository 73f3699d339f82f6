// Bytes that never change as a buffer: where they are when the device works in host memory, else uploaded once.
#pragma once

#include <cstddef>
#include <span>

#include "hal/allocator.hpp"
#include "hal/device.hpp"

namespace baton::modules {

// `release` is called once: when the buffer that uses the bytes in place is gone, or when they are not needed any more,
// also after a failure. The buffer may be read and copied from, never written: the bytes may lie in a file.
Result<Ref<hal::Buffer>> make_constant_buffer(hal::Device& device, std::span<const std::byte> bytes,
                                              hal::ImportRelease release);

}  // namespace baton::modules
