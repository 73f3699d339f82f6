// Copies bytes between the host and a buffer, and returns when they have arrived: it maps memory that the host sees, and
// takes a staging buffer and the device's queue for other memory. For hosts, tools and tests; device work on the buffer
// must have ended.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hal/buffer_view.hpp"
#include "hal/device.hpp"

namespace baton::hal {

struct BufferRange;

Status copy_to_host(Device& device, const BufferRange& source, std::span<std::byte> target);
Status copy_from_host(Device& device, std::span<const std::byte> source, const BufferRange& target);

// These bytes in a new buffer of the device: in host memory where the device works there.
Result<Ref<Buffer>> upload_buffer(Device& device, std::span<const std::byte> bytes);
// A tensor of these elements, dense, in such a buffer.
Result<Ref<BufferView>> upload_view(Device& device, ElementType element_type, std::span<const int64_t> shape,
                                    std::span<const std::byte> elements);

}  // namespace baton::hal
