#include "hal/drivers/local/system_loader.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/shared_object.hpp"

namespace baton::hal::drivers::local {

Result<Ref<SystemLibrary>> SystemLibrary::open(const std::string& path) {
  BATON_TRY_CONTEXT(check_shared_object(path.c_str()), "in library '", path, "'");
  // Local and bound at once: what is missing shows here and not in the middle of a dispatch.
  void* handle = open_shared_object(path);
  if (!handle) return failure(StatusCode::kNotFound, "Cannot open the library '", path, "': ", dlerror(), ".");
  return make_ref<SystemLibrary>(handle);
}

Result<Ref<SystemLibrary>> SystemLibrary::load(std::span<const std::byte> bytes, std::string_view name) {
  const int file = memfd_create(std::string(name).c_str(), MFD_CLOEXEC);
  if (file < 0)
    return failure(StatusCode::kResourceExhausted, "Cannot make a file in memory: ", std::strerror(errno), ".");
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      close(file);
      return failure(StatusCode::kResourceExhausted, "Cannot write ", bytes.size(),
                     " bytes to memory: ", std::strerror(errno), ".");
    }
    done += static_cast<size_t>(count);
  }
  auto library = open(text("/proc/self/fd/", file));
  close(file);  // The mapping stays.
  return library;
}

SystemLibrary::~SystemLibrary() { dlclose(handle_); }

void* SystemLibrary::find_function(const char* name) const { return dlsym(handle_, name); }

}  // namespace baton::hal::drivers::local
