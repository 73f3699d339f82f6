#include "hal/nvtx.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace baton::hal {
namespace {

// Where toolkits put it, besides where the loader looks.
constexpr const char* kLibraries[] = {"libnvToolsExt.so.1", "libnvtx3interop.so.1",
                                      "/usr/local/cuda/lib64/libnvToolsExt.so.1",
                                      "/usr/local/cuda/lib64/libnvtx3interop.so.1"};

// It stays open for the life of the process: a profiler may have a thread in it.
void* open_library() {
  if (const char* const told = std::getenv("BATON_NVTX")) return dlopen(told, RTLD_NOW | RTLD_LOCAL);
  for (const char* name : kLibraries) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

}  // namespace

Result<Timeline::Ranges> nvtx_ranges() {
  void* const library = open_library();
  if (!library) {
    return failure(StatusCode::kUnavailable, "No NVTX: libnvtx3interop.so.1 cannot be opened (", dlerror(),
                   "). It comes with the CUDA toolkit, and by pip install nvidia-nvtx; BATON_NVTX names the library.");
  }
  Timeline::Ranges ranges;
  ranges.push = reinterpret_cast<decltype(ranges.push)>(dlsym(library, "nvtxRangePushA"));
  ranges.pop = reinterpret_cast<decltype(ranges.pop)>(dlsym(library, "nvtxRangePop"));
  if (ranges.push && ranges.pop) return ranges;
  return failure(StatusCode::kUnavailable, "The library of NVTX has no '",
                 ranges.push ? "nvtxRangePop" : "nvtxRangePushA", "'.");
}

}  // namespace baton::hal
