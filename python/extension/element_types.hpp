// Element types as Python's array protocols name them: kind and size of NumPy, format letter of the buffer protocol.
#pragma once

#include <string_view>

#include "hal/element_type.hpp"

namespace baton::python {

// kNone where tensors have none: `kind` as in __array_interface__ ('f', 'i', 'u', 'b', 'c').
hal::ElementType element_type_of(char kind, int size_bytes);
// A format of the buffer protocol for this machine, with or without its order mark; kNone for others.
hal::ElementType element_type_of_format(std::string_view format);
// The letter of the buffer protocol; null where it has none.
const char* format_of(hal::ElementType type);
// "float32", "bfloat16": NumPy's names, with those of ml_dtypes.
const char* dtype_name(hal::ElementType type);
// The element type in "tensor<?x4xf32>"; empty when the text is none of a tensor.
std::string_view element_in(std::string_view tensor_type);

}  // namespace baton::python
