// Results of a call as text: "result[0]: i32=5".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "tools/support/tensor_text.hpp"
#include "vm/value.hpp"

namespace baton::tools {

// "i32=5", "f32=1.5", "f64=NAN"; references as what they are: "null", "blob (16 bytes)", "list (3 elements)",
// "custom.string".
std::string describe_value(vm::ValueType type, vm::Value value);

class TensorValues;

// "result[2]: i32=5\n" for the result of that number; a tensor has a second line with its values, which `tensors`
// reads, a list one for each of its elements.
Result<std::string> describe_result(size_t index, vm::ValueType type, vm::Value value,
                                    const TensorValues* tensors = nullptr);

// What can be compared and written: tensors, numbers as tensors of rank 0, blobs as bytes. Nothing for other
// references. The bytes of a blob are its own: the result must not be released before.
Result<std::optional<Tensor>> tensor_of_result(vm::ValueType type, vm::Value value, const TensorValues* tensors);

// Releases the references among them: the caller of a function owns those.
void release_results(std::string_view signature, std::span<const vm::Value> results);

}  // namespace baton::tools
