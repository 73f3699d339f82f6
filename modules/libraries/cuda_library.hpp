// What the plugins of NVIDIA's libraries share: a library that is opened when it is first asked for, and its handle on a device.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "modules/libraries/cuda_calls.hpp"
#include "modules/libraries/report.hpp"

namespace baton::libraries {

// Library::open gets the paths.
// Threads: internally synchronized.
template <typename Library, size_t kPaths = 1>
class CudaLibrary {
 public:
  // `name`: in sentences.
  CudaLibrary(const char* name, std::array<std::string, kPaths> paths) : name_(name), paths_(std::move(paths)) {}

  // Whether its commands work on this device: 1, or 0 where programs must go without.
  int32_t available(const sdk::Device& device, const Report& report) {
    if (device.driver() == "null") return 1;  // Shows them.
    if (device.driver() != sdk::Cuda::kDriver) return 0;
    const sdk::Result<Library>& library = opened();
    if (!library.has_value()) report.absent(library.error());
    return library.has_value() ? 1 : 0;
  }
  sdk::Result<Library> needed() {
    const sdk::Result<Library>& library = opened();
    if (library.has_value()) return library.value();
    return sdk::failure(sdk::StatusCode::kUnavailable, name_,
                        " is needed, and is not here: ", library.error().message());
  }

 private:
  // Opened once; what was missing then stays missing.
  const sdk::Result<Library>& opened() {
    std::lock_guard lock(mutex_);
    if (!library_) library_.emplace(std::apply(&Library::open, paths_));
    return *library_;
  }

  const char* const name_;
  const std::array<std::string, kPaths> paths_;
  std::mutex mutex_;
  std::optional<sdk::Result<Library>> library_;
};

// The library's handle belongs to the context.
template <typename Library>
class LibraryOnDevice {
 public:
  LibraryOnDevice(const Library& use, void* context) : use_(use), context_(context) {}
  LibraryOnDevice(const LibraryOnDevice&) = delete;
  ~LibraryOnDevice() {
    const CurrentContext current(context_);
    if (handle_) use_.destroy(handle_);
  }
  // `call` is the function's name.
  sdk::Status create(const char* call) {
    const CurrentContext current(context_);
    return status_of_call(call, use_.create(&handle_));
  }

  const Library& use() const { return use_; }
  typename Library::Handle handle() const { return handle_; }
  void* context() const { return context_; }

 private:
  const Library use_;
  void* const context_;
  typename Library::Handle handle_ = nullptr;
};

// What a recorded command works in; it has an address however few bytes are wanted.
inline sdk::Result<sdk::Ref<sdk::Buffer>> allocate_workspace(sdk::Device& device, uint64_t bytes) {
  constexpr uint64_t kLeast = 256;
  return device.allocate({.length = bytes > kLeast ? bytes : kLeast,
                          .memory = BATON_MEMORY_DEVICE_LOCAL,
                          .usage = BATON_USAGE_DISPATCH_READ | BATON_USAGE_DISPATCH_WRITE});
}

template <typename OnDevice, typename Library>
sdk::Result<std::shared_ptr<OnDevice>> create_on_device(sdk::Device& device, const Library& use, const char* call) {
  BATON_ASSIGN_OR_RETURN(const int64_t context, device.query("cuda", "context"));
  auto made = std::make_shared<OnDevice>(use, reinterpret_cast<void*>(context));
  BATON_OR_RETURN(made->create(call));
  return made;
}

}  // namespace baton::libraries
