// The reader of GGUF headers against any bytes: a status, or tensors that lie inside the file.
#include <cstddef>
#include <cstdint>
#include <span>

#include "modules/parameters_module/gguf.hpp"
#include "tests/fuzz/entries_inside.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const auto entries = baton::modules::parse_gguf(file);
  if (entries) baton::testing_support::require_inside(*entries, file);
  return 0;
}
