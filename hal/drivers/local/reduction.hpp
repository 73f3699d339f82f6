// What ranks' elements are combined to, one after the other in the order of the ranks, so that all ranks get the same
// bits. Floats of 16 bits are combined as f32 and rounded once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hal/commands/collective.hpp"

namespace baton::hal::drivers::local {

// target[i] = sources[0][i] ... sources[n - 1][i], `count` elements; `target` is none of the sources. Validation knows
// that the type has this reduction. Addresses may be unaligned.
void reduce_elements(ElementType type, Reduction reduction, std::span<const std::byte* const> sources,
                     std::byte* target, uint64_t count);

}  // namespace baton::hal::drivers::local
