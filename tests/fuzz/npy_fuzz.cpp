// .npy and .npz data against any bytes: a status or a tensor, which writes and reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "tools/support/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton::tools;
  const auto bytes = std::as_bytes(std::span(data, size));
  static_cast<void>(parse_npz(bytes, "a"));
  const auto tensor = parse_npy(bytes);
  if (!tensor) return 0;
  const auto again = parse_npy(write_npy(tensor->type, tensor->bytes));
  if (!again || again->bytes != tensor->bytes || again->type.shape != tensor->type.shape) std::abort();
  return 0;
}
