// --input= values against a function's signature: "5" takes its type from the signature, "i32=5" states it and must
// agree, "null" is the null reference. One sentence, with the signature in it, when they do not fit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "vm/value.hpp"

namespace baton::tools::flags {

// `function` is a name for messages; `signature` is text of bytecode/signature.hpp.
Result<std::vector<vm::Value>> parse_inputs(std::string_view function, std::string_view signature,
                                            const std::vector<std::string>& inputs);

// One number of the type: decimal or 0x... for integers (also unsigned ones that fit the bits), decimal, inf or nan for
// floats.
Result<vm::Value> parse_scalar(std::string_view text, vm::ValueType type);

}  // namespace baton::tools::flags
