// Constants of the host program: scalars as sources, elements as bytes.
#pragma once

#include <optional>
#include <vector>

#include "compiler-lite/emit/machine.hpp"
#include "mlir/IR/Attributes.h"

namespace baton::compiler_lite::emit {

// Integers, floats and index; narrow ones zero-extended, f16 and bf16 as their bits.
std::optional<Source> constant_source(mlir::Attribute value);

// The bytes of a string (without a terminator) or of dense elements, little-endian and packed; i1 takes a byte.
std::vector<char> bytes_of(mlir::Attribute value);

}  // namespace baton::compiler_lite::emit
