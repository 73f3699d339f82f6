// ExecutableRegistry: code that the host app brings, by name: a program asks for "blas.kernels" and gets the variants
// that the app (or a plugin) registered under it, whatever their formats (dynamic dispatches).
//
// Threads: internally synchronized. Registered bytes must outlive the executables that are made from them.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "hal/device.hpp"

namespace baton::hal {

class ExecutableRegistry {
 public:
  // ALREADY_EXISTS when the name has this format already.
  Status add(std::string_view name, std::string_view format, std::span<const std::byte> data);

  // All of them, or none with the reason.
  Status add(std::string_view name, std::span<const ExecutableVariant> variants);
  // What baton_embed_kernels() put into the app: add("acme", BATON_EMBEDDED_LIBRARY(acme)) of modules/sdk/kernel_library.h.
  template <typename Embedded>
  requires requires(const Embedded& kernels) { kernels.variants[kernels.variant_count].format.data; }
  Status add(std::string_view name, const Embedded& kernels) {
    std::vector<ExecutableVariant> variants;
    for (const auto& each : std::span(kernels.variants, kernels.variant_count)) {
      variants.push_back({{each.format.data, static_cast<size_t>(each.format.size)},
                          {static_cast<const std::byte*>(each.begin), static_cast<const std::byte*>(each.end)}});
    }
    return add(name, variants);
  }

  // Loads the variant that fits `device` best. The failure for an unknown name lists the known ones. `expected`: what
  // the program knows of the entry points that it will look up.
  Result<Ref<Executable>> load(Device& device, std::string_view name, std::span<const EntryPoint> expected = {}) const;

 private:
  struct Variant {
    std::string format;
    std::span<const std::byte> data;
  };

  mutable std::mutex mutex_;
  std::map<std::string, std::vector<Variant>, std::less<>> executables_;  // Guarded by mutex_.
};

}  // namespace baton::hal
