// .npz data against any bytes: a status, or tensors by name, which write and read back the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMembersMax = 4;
  const baton::tools::SharedBytes file = {std::as_bytes(std::span(data, size)), nullptr};
  const auto names = baton::tools::npz_names(file.bytes);
  for (size_t i = 0; names && i < std::min(names->size(), kMembersMax); ++i) {
    const auto tensor = read_npz(file, (*names)[i]);
    if (tensor) baton::testing_support::read_back(*tensor);
  }
  return 0;
}
