// Device code before the driver sees it. The driver takes a pointer and no length: it reads as far as the tables in the
// code say, so a file that was cut off would have it read beyond its end.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/status.hpp"

namespace baton::hal::drivers::cuda {

// That all that a cubin's or a fatbin's tables name lies inside it. PTX has no tables.
Status check_image(std::span<const std::byte> code);

// What PTX says is its language: "8.4" of `.version 8.4`; empty for what doesn't say it.
std::string ptx_version(std::span<const std::byte> code);
// What it is for: "90a" of `.target sm_90a, texmode_independent`; empty for what doesn't say it.
std::string ptx_target(std::span<const std::byte> code);

}  // namespace baton::hal::drivers::cuda
