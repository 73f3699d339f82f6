// TensorEntry: one tensor of a file that holds many, as its reader found it.
// Threads: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hal/element_type.hpp"

namespace baton::modules {

struct TensorEntry {
  std::string name;
  hal::ElementType element_type;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;  // In the file, and as many as type and shape ask for.
};

}  // namespace baton::modules
