// The system's memory for buffers: what is large and must be zero comes as fresh pages, which cost what is touched of
// them. An allocator that clears by writing takes a second for a few gigabytes, and no deadline can stop it.
//
// Threads: as Allocator.
#pragma once

#include "base/allocator.hpp"

namespace baton::hal {

// Below this size, clearing pages that malloc has kept costs less (a millisecond or two) than getting new pages.
inline constexpr size_t kFreshPagesFrom = size_t{8} << 20;

const baton::Allocator& page_allocator();

}  // namespace baton::hal
