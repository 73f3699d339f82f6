// Checks device code before a vendor's driver or linker reads it. Those trust the sizes that stand in the code: they read
// beyond the end of a file that was cut off, or never stop.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.hpp"

namespace baton::hal {

// That what the tables of a cubin, an object, a fatbin or an archive name lies inside of it, and the same for what lies
// in those. PTX has no tables, of LTO-IR only the head is known, and what is compressed is not looked at: nvJitLink
// refuses LTO-IR that was cut off by itself.
Status check_device_image(std::span<const std::byte> code);

}  // namespace baton::hal
