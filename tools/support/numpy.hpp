// Arrays of NumPy's files as tensors: .npy with one array or several, .npz with arrays by name; and tensors as .npy.
//
// What lies in a file as a tensor has it is used where it lies; arrays in Fortran order and packed members are brought
// into that order, in memory of their own.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "tools/support/files.hpp"
#include "tools/support/tensor_text.hpp"

namespace baton::tools {

// The array at `offset` of a .npy file, which moves behind it.
Result<Tensor> read_npy(const SharedBytes& file, size_t& offset);
// The array `name` of a .npz file; NOT_FOUND lists those that are there.
Result<Tensor> read_npz(const SharedBytes& file, std::string_view name);

// What tells one array from the next in `file`: names in a .npz, nothing but their number in a .npy.
bool is_npz(std::span<const std::byte> file);
Result<std::vector<std::string>> npz_names(std::span<const std::byte> file);
Result<size_t> count_npy(std::span<const std::byte> file);

// What stands before the elements.
std::string npy_header(const TensorType& type);

}  // namespace baton::tools
