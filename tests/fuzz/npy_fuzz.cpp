// .npy and .npz data against any bytes: a status or tensors, which write and read back the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "tools/support/numpy.hpp"

namespace {

using namespace baton::tools;

// Larger ones would only make a run longer: the fuzzer finds splats of what a kilobyte can say.
constexpr size_t kElementBytesMax = 4096;

void read_back(const Tensor& tensor) {
  if (tensor.bytes.size() > kElementBytesMax) return;
  std::string file = npy_header(tensor.type);
  file.append(text_of(tensor.bytes));
  size_t offset = 0;
  const auto again = read_npy({bytes_of(file), nullptr}, offset);
  if (!again || offset != file.size() || again->type.shape != tensor.type.shape) std::abort();
  if (!std::ranges::equal(again->bytes, tensor.bytes)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const SharedBytes file = {std::as_bytes(std::span(data, size)), nullptr};
  if (is_npz(file.bytes)) {
    const auto names = npz_names(file.bytes);
    for (size_t i = 0; names && i < std::min<size_t>(names->size(), 8); ++i) {
      if (const auto tensor = read_npz(file, (*names)[i])) read_back(*tensor);
    }
    return 0;
  }
  size_t offset = 0;
  while (offset < size) {
    const auto tensor = read_npy(file, offset);
    if (!tensor) break;
    read_back(*tensor);
  }
  return 0;
}
