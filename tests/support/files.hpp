// Whole files in tests.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hal/file.hpp"

namespace baton::testing_support {

// Empty when it can't be read.
inline std::vector<std::byte> read_file(const std::string& path) {
  auto file = hal::File::open(path, hal::FileMode::kRead);
  if (!file.has_value()) return {};
  std::vector<std::byte> bytes((*file)->length().value());
  return (*file)->read(0, bytes).ok() ? bytes : std::vector<std::byte>();
}

}  // namespace baton::testing_support
