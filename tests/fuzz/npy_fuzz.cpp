// .npy data against any bytes: a status, or tensors one behind the other, which write and read back the same.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const baton::tools::SharedBytes file = {std::as_bytes(std::span(data, size)), nullptr};
  size_t offset = 0;
  while (offset < size) {
    const auto tensor = read_npy(file, offset);
    if (!tensor) break;
    baton::testing_support::read_back(*tensor);
  }
  return 0;
}
