// NumPy's .npy files: one array, a header in text and dense bytes. And .npz: a ZIP file of them, not compressed.
//
// Little-endian arrays in C order are taken; numbers without a sign in NumPy's name keep none here (u1 is ui8).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "tools/support/tensor_text.hpp"

namespace baton::tools {

Result<Tensor> parse_npy(std::span<const std::byte> file);
std::vector<std::byte> write_npy(const TensorType& type, std::span<const std::byte> bytes);

// The array `name` of an .npz file; NOT_FOUND lists those that are there.
Result<Tensor> parse_npz(std::span<const std::byte> file, std::string_view name);

}  // namespace baton::tools
