// Numbers that a program declares as something else than what its registers hold: an i8 or a bf16 is an i32 there,
// integers by their value, floats of 16 bits by their bits. Callers of TVM-FFI pass and get values.
#pragma once

#include "modules/app/declaration.hpp"
#include "modules/tvm_ffi/values.hpp"

namespace baton::modules::tvm_ffi {

// Writes what `declaration` says of numbers into the elements of the signature's parameters, and which are tensors; other
// elements stay kNone.
void note_declared(const app::Declaration& declaration, Signature& signature);
inline bool is_declared_number(const Parameter& parameter) {
  return parameter.kind <= Kind::kBool && parameter.element != hal::ElementType::kNone;
}

// A caller's number into a register. What is none, or one that the type does not hold, is refused with its value.
Status take_argument(const Parameter& number, const Any& value, baton_value& out);
// A register's number for a caller.
Status give_result(const Parameter& number, const baton_value& value, Any& out);

}  // namespace baton::modules::tvm_ffi
