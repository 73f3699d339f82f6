// How much a program holds of one constant: as far as offsets in a module file reach.
#pragma once

namespace baton::compiler_lite {

inline constexpr double kConstantBytesMax = 2147483648.0;

}  // namespace baton::compiler_lite
