// What a custom command promises; stated beside its name in BATON_COMMAND.
#pragma once

#include <cstdint>

#include "modules/sdk/module.h"

namespace baton::sdk {

using Traits = uint64_t;
// The first four are reserved: a module may state them, and no host acts on them yet (module.h).
inline constexpr Traits kPure = BATON_TRAIT_PURE;                 // no effect but its results
inline constexpr Traits kCaptureSafe = BATON_TRAIT_CAPTURE_SAFE;  // its work may be captured into a device graph
inline constexpr Traits kHostOnly = BATON_TRAIT_HOST_ONLY;        // works on the host
inline constexpr Traits kInPlace = BATON_TRAIT_IN_PLACE;          // results may share storage with arguments
// Its foreign functions wait for the device or allocate: no graph holds it.
inline constexpr Traits kNotCaptured = BATON_TRAIT_NOT_CAPTURED;

}  // namespace baton::sdk
