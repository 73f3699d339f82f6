// Turns the numbers of a program into the request to an allocator.
#pragma once

#include <cstdint>

#include "hal/allocator.hpp"

namespace baton::modules {

// INVALID_ARGUMENT for bits that mean nothing and for a length below 0.
Result<hal::AllocationRequest> memory_request(uint32_t memory, uint32_t usage, int64_t length);

}  // namespace baton::modules
