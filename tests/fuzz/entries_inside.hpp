// What every reader of parameter files promises, whatever the bytes: tensors as large as they say, inside the file.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>

#include "modules/parameters_module/tensor_entry.hpp"

namespace baton::testing_support {

inline void require_inside(std::span<const modules::TensorEntry> entries, std::span<const std::byte> file) {
  for (const auto& entry : entries) {
    uint64_t length = hal::element_bytes(entry.element_type);
    for (const int64_t extent : entry.shape) length *= static_cast<uint64_t>(extent);
    if (entry.bytes.size() != length) std::abort();
    if (!entry.bytes.empty() && (entry.bytes.data() < file.data() || &entry.bytes.back() > &file.back())) std::abort();
  }
}

}  // namespace baton::testing_support
