// Results of a call as text: "result[0]: i32=5".
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "vm/value.hpp"

namespace baton::tools {

// "i32=5", "f32=1.5", "f64=NAN"; references as what they are: "null", "blob (16 bytes)", "list (3 elements)",
// "custom.string".
std::string describe_value(vm::ValueType type, vm::Value value);

class TensorValues;

// One line for each result of a function with this signature; a tensor has a second one with its values, which
// `tensors` reads.
Result<std::string> describe_results(std::string_view signature, std::span<const vm::Value> results,
                                     const TensorValues* tensors = nullptr);

// Releases the references among them: the caller of a function owns those.
void release_results(std::string_view signature, std::span<const vm::Value> results);

}  // namespace baton::tools
