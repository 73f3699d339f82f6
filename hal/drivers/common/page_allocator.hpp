// The system's memory for buffers: what is large and must be zero comes as fresh pages, which cost what is touched of
// them. An allocator that clears by writing takes a second for a few gigabytes, and no deadline can stop it.
//
// Threads: as Allocator.
#pragma once

#include "base/allocator.hpp"

namespace baton::hal {

// Clearing less than this takes a millisecond or two; pages that malloc keeps come cheaper than new ones.
inline constexpr size_t kFreshPagesFrom = size_t{8} << 20;

const baton::Allocator& page_allocator();

}  // namespace baton::hal
