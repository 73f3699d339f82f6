// The attributes of an entry point that programs state, each a word and a number: how it is launched, and where its
// bindings stand among its parameters ("binding_parameter", once for each, counted from 0; without it they come first). The words are
// those of hal/executable.hpp; a vector has a word for each axis, a list its word once for each number.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.hpp"
#include "hal/executable.hpp"

namespace baton::hal {

// NOT_FOUND with the nearest words, or OUT_OF_RANGE with what the attribute may be. Devices check more when they load.
Status set_launch_attribute(EntryPoint& entry, std::string_view name, int64_t value);

}  // namespace baton::hal
