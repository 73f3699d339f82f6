// --input= values against a function's signature: "5" takes its type from the signature, "i32=5" states it and must
// agree, "null" is the null reference, "2x2xf32=1 2 3 4" or "@file.npy" a tensor (tools/support/tensor_files.hpp), and
// "!i32=1;4xf32=2;!{null}" a list. One sentence, with the signature in it, when they do not fit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "vm/value.hpp"

namespace baton::tools {
class TensorValues;
}

namespace baton::tools::flags {

// `function` is a name for messages; `signature` is text of bytecode/signature.hpp.
// Tensors are made by `tensors`, which keeps them. The caller appends the last `appended` arguments, which are left out
// of the result.
Result<std::vector<vm::Value>> parse_inputs(std::string_view function, std::string_view signature,
                                            const std::vector<std::string>& given, TensorValues* tensors = nullptr,
                                            size_t appended = 0);

// One number of the type: decimal or 0x... for integers (also unsigned ones that fit the bits), decimal, inf or nan for
// floats.
Result<vm::Value> parse_scalar(std::string_view text, vm::ValueType type);

}  // namespace baton::tools::flags
