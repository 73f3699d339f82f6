#include "hal/drivers/cuda/symbols.hpp"

#include <dlfcn.h>

#include "hal/drivers/cuda/status.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// libcuda stays open for the life of the process: it has threads of its own, and unloading it under them is undefined.
void* open_library() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library ? library : dlopen("libcuda.so", RTLD_NOW | RTLD_LOCAL);
}

std::string driver_version(void* library) {
  int version = 0;
  const auto ask = reinterpret_cast<decltype(&::cuDriverGetVersion)>(dlsym(library, "cuDriverGetVersion"));
  if (!ask || ask(&version) != CUDA_SUCCESS) return "of unknown version";
  return version_text(version);
}

Status too_old(std::string_view version, std::string_view entry) {
  return failure(StatusCode::kUnavailable, "The CUDA driver (", version, ") is too old: it has no '", entry,
                 "'; Baton needs ", version_text(kDriverVersionMin), " or newer.");
}

template <typename Function>
bool find_entry(void* library, const char* name, Function& entry) {
  entry = reinterpret_cast<Function>(dlsym(library, name));
  return entry != nullptr;
}

}  // namespace

std::string version_text(int version) { return text(version / 1000, ".", version % 1000 / 10); }

#define BATON_TEXT_INNER(name) #name
#define BATON_TEXT(name) BATON_TEXT_INNER(name)

Result<std::shared_ptr<const Symbols>> load_symbols() {
  void* library = open_library();
  if (!library) {
    return failure(StatusCode::kUnavailable, "No CUDA driver: libcuda.so.1 cannot be opened (", dlerror(), ").");
  }
  auto symbols = std::make_shared<Symbols>();
#define SYMBOL(name)                                           \
  if (!find_entry(library, BATON_TEXT(name), symbols->name)) { \
    return too_old(driver_version(library), BATON_TEXT(name)); \
  }
#define SYMBOL_AS(member, exact, ...)                 \
  if (!find_entry(library, exact, symbols->member)) { \
    return too_old(driver_version(library), exact);   \
  }
#include "hal/drivers/cuda/symbols.inc"
#undef SYMBOL_AS
#undef SYMBOL
  BATON_TRY(start(*symbols));
  return std::shared_ptr<const Symbols>(std::move(symbols));
}

Status start(const Symbols& symbols) {
  int version = 0;
  BATON_CUDA_TRY(symbols, cuDriverGetVersion, &version);
  if (version < kDriverVersionMin) return too_old(version_text(version), "cuKernelGetParamInfo");
  const CUresult started = symbols.cuInit(0);
  if (started == CUDA_ERROR_NO_DEVICE)
    return failure(StatusCode::kUnavailable, "No CUDA device: the driver sees none.");
  if (started != CUDA_SUCCESS) {
    return failure(StatusCode::kUnavailable, "The CUDA driver (", version_text(version),
                   ") does not start: ", result_text(symbols, started), ".");
  }
  int count = 0;
  BATON_CUDA_TRY(symbols, cuDeviceGetCount, &count);
  if (count == 0) return failure(StatusCode::kUnavailable, "No CUDA device: the driver sees none.");
  return {};
}

}  // namespace baton::hal::drivers::cuda
