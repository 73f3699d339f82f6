// A tensor from a file of NumPy's is written as .npy and read again: it must be the same.
#pragma once

#include <cstdlib>
#include <cstring>

#include "tools/support/numpy.hpp"

namespace baton::testing_support {

// Larger ones would only make a run longer.
inline constexpr size_t kReadBackBytesMax = 4096;

inline void read_back(const tools::Tensor& tensor) {
  if (tensor.bytes.size() > kReadBackBytesMax) return;
  std::string file = tools::npy_header(tensor.type);
  file.append(tools::text_of(tensor.bytes));
  size_t offset = 0;
  const auto again = tools::read_npy({tools::bytes_of(file), nullptr}, offset);
  if (!again || offset != file.size() || again->type.shape != tensor.type.shape) std::abort();
  const size_t size = tensor.bytes.size();
  if (again->bytes.size() != size) std::abort();
  if (size > 0 && std::memcmp(again->bytes.data(), tensor.bytes.data(), size) != 0) std::abort();
}

}  // namespace baton::testing_support
