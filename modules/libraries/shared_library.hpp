// A library of others, opened when it is first needed: a plugin builds and loads where there is none.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>

#include "modules/sdk/status.hpp"

namespace baton::libraries {

// Stays open: what it started may run until the process ends.
class SharedLibrary {
 public:
  // The first of these names that the dynamic linker finds.
  static sdk::Result<SharedLibrary> open(std::initializer_list<std::string> names) {
    std::string said;
    for (const std::string& name : names) {
      if (name.empty()) continue;
      if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return SharedLibrary(handle, name);
      said += std::string(said.empty() ? "" : "; ") + dlerror();
    }
    return sdk::failure(sdk::StatusCode::kUnavailable, "A library cannot be opened: ", said, ".");
  }

  template <typename Function>
  sdk::Status find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    if (function) return {};
    return sdk::failure(sdk::StatusCode::kUnavailable, "The library '", name_, "' has no function '", name, "'.");
  }
  const std::string& name() const { return name_; }

 private:
  SharedLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}

  void* handle_;
  std::string name_;
};

}  // namespace baton::libraries
