// What a function of TVM-FFI takes and gives when a program calls it: words of a user, or the type that a program
// imports it with.
//
//   word                    a program's                      the function's
//   i32 i64 f32 f64 bool    number (bool: i32)               int, float, bool
//   tensor                  hal.buffer_view                  Tensor, which it may keep
//   view                    hal.buffer_view                  DLTensor*, for the call: what TensorView takes, and cheaper
//   string, bytes           blob                             str, bytes
//   device                  hal.device                       Device
//   object                  any reference that a function gave
//   f32[4x?]                of commands: the range of a slot DLTensor* of that shape; one extent may be open
//
// "(tensor, f32) -> tensor" is a call, "command(f32[?], view)" a command. An import's type says the same without words:
// tensors are `tensor`, blobs `string`, ranges of slots are flat; two fences at the end are a call's wait and signal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hal/element_type.hpp"

namespace baton::modules::tvm_ffi {

enum class Kind : uint8_t {
  kI32,
  kI64,
  kF32,
  kF64,
  kBool,
  kTensor,
  kView,
  kString,
  kBytes,
  kDevice,
  kObject,
  kRange,  // Of a command: slot, buffer, offset, length.
  kFence,
};

struct Parameter {
  Kind kind = Kind::kObject;
  // Of a range, where they were said; an extent of -1 is open. Without, it is flat and the program says its elements. Of
  // a number of a program's export: what it is declared as, where that is not what the register has (declared_numbers.hpp).
  hal::ElementType element = hal::ElementType::kNone;
  bool has_shape = false;
  bool is_tensor = false;  // Of an export, which declares it: None is none.
  bool keeps = false;      // A range is passed as a Tensor object.
  std::vector<int64_t> shape = {};
};

struct Signature {
  bool is_command = false;
  std::vector<Parameter> arguments;
  std::vector<Parameter> results;

  // The calling convention (bytecode/signature.hpp): "r<hal.buffer_view>f_v".
  std::string text() const;
};

Result<Signature> parse_words(std::string_view words);
Result<Signature> parse_import(std::string_view signature);
// From what a library tells of a function: {"type":"ffi.Function","args":[...]}. Nothing where it says too little.
bool parse_schema(std::string_view schema, Signature& out);

}  // namespace baton::modules::tvm_ffi
