// What the library of a loaded file points to lies in its image: a damaged file has pointers to anywhere. Tables and names are
// looked for before anyone reads them; what the code itself does is trusted (SECURITY.md).
#pragma once

#include "base/result.hpp"
#include "hal/drivers/local/executable.hpp"

namespace baton::hal::drivers::local {

// `library` is what the code's query function returned, not null.
Status check_tables(const baton_executable_library* library, const CodeImage& image);

}  // namespace baton::hal::drivers::local
