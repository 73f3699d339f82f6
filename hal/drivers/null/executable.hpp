// Executable of the null driver: entry points without code.
//
// It knows what the program expects; of a program that tells nothing, entry points go by their number.
#pragma once

#include "hal/executable.hpp"

namespace baton::hal::drivers::null {

class Executable final : public hal::Executable {
 public:
  Executable(const ExecutableRequest& request, const void* device) : hal::Executable(request.name, device) {
    entry_points_.assign(request.expected.begin(), request.expected.end());
    if (!entry_points_.empty()) return;
    for (uint32_t i = 0; i < kUnknownEntryPoints; ++i) {
      entry_points_.push_back({.name = text("entry_", i), .layout_known = false});
    }
  }

 private:
  static constexpr uint32_t kUnknownEntryPoints = 64;
};

}  // namespace baton::hal::drivers::null
