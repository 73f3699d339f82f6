// system_loader: shared libraries through the system's loader, from a path or from memory. They may use libc.
#pragma once

#include <span>
#include <string>

#include "hal/drivers/local/executable.hpp"

namespace baton::hal::drivers::local {

// An open shared library; closed with the last reference.
// Threads: immutable.
class SystemLibrary final : public CodeImage {
 public:
  static Result<Ref<SystemLibrary>> open(const std::string& path);
  // Through an anonymous file in memory: nothing is written to disk.
  static Result<Ref<SystemLibrary>> load(std::span<const std::byte> bytes, std::string_view name);
  ~SystemLibrary() override;

  // The address of an exported function, or null.
  void* find_function(const char* name) const;

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  explicit SystemLibrary(void* handle) : handle_(handle) {}

  void* handle_;
};

}  // namespace baton::hal::drivers::local
