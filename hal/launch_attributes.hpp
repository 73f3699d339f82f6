// LaunchAttributes by name: how programs state the launch of an entry point, one word and one number each. The
// words are those of hal/executable.hpp; a vector has a word for each axis.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.hpp"
#include "hal/executable.hpp"

namespace baton::hal {

// NOT_FOUND with the nearest words, or OUT_OF_RANGE with what the attribute may be. Devices check more when they load.
Status set_launch_attribute(LaunchAttributes& launch, std::string_view name, int64_t value);

}  // namespace baton::hal
