// Tensors as people write and read them: "2x2xf32=1 2 3 4", "4xi8=7" (one value for all), "f32=3" (rank 0).
//
// Commas, white space and brackets separate values. "2x2xf32" alone is full of zeros.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hal/element_type.hpp"

namespace baton::tools {

struct TensorType {
  std::vector<int64_t> shape;
  hal::ElementType element_type = hal::ElementType::kNone;

  uint64_t element_count() const;
  uint64_t length_bytes() const { return element_count() * hal::element_bytes(element_type); }
};

// On the host. The bytes lie where they came from: in memory of their own, in a file, in a buffer that is mapped.
struct Tensor {
  TensorType type;
  std::span<const std::byte> bytes;   // Dense, the last dimension running fastest.
  std::shared_ptr<const void> owner;  // Of the bytes.

  static Tensor of(TensorType type, std::vector<std::byte> bytes);
};

// More is not taken from a command line: sizes in bytes stay far from overflow, and typing errors stay cheap.
inline constexpr uint64_t kTensorBytesMax = uint64_t{1} << 36;

// "2x2xf32".
Result<TensorType> parse_tensor_type(std::string_view text);
std::string describe_tensor_type(std::span<const int64_t> shape, hal::ElementType element_type);

Result<Tensor> parse_tensor(std::string_view text);
// The values behind the "=".
Result<Tensor> parse_tensor_values(TensorType type, std::string_view values);

inline constexpr uint64_t kPrintedElements = 1024;

// "2x2xf32=[1 2][3 4]"; beyond `most` elements "...".
std::string describe_tensor(std::span<const int64_t> shape, hal::ElementType element_type,
                            std::span<const std::byte> bytes, uint64_t most = kPrintedElements);

}  // namespace baton::tools
