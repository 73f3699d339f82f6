// The reader of safetensors headers against any bytes: a status, or tensors that lie inside the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "modules/parameters_module/safetensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const auto entries = baton::modules::parse_safetensors(file);
  if (!entries) return 0;
  for (const auto& entry : *entries) {
    uint64_t length = baton::hal::element_bytes(entry.element_type);
    for (int64_t extent : entry.shape) length *= static_cast<uint64_t>(extent);
    if (entry.bytes.size() != length) std::abort();
    if (!entry.bytes.empty() && (entry.bytes.data() < file.data() || &entry.bytes.back() > &file.back())) std::abort();
  }
  return 0;
}
