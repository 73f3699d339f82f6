#include "hal/drivers/cuda/cupti.hpp"

#include <dlfcn.h>

namespace baton::hal::drivers::cuda {
namespace {

// Where toolkits put it, besides where the loader looks.
constexpr const char* kLibraries[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so",
                                      "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                                      "/usr/local/cuda/lib64/libcupti.so"};

template <typename Function>
bool find_entry(void* library, const char* name, Function& entry) {
  entry = reinterpret_cast<Function>(dlsym(library, name));
  return entry != nullptr;
}

// It stays open for the life of the process: it has callbacks into us from threads of its own.
void* open_library() {
  for (const char* name : kLibraries) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

}  // namespace

Result<std::shared_ptr<const CuptiSymbols>> load_cupti() {
  void* const library = open_library();
  if (!library) {
    return failure(StatusCode::kUnavailable, "No CUPTI: libcupti.so cannot be opened (", dlerror(), ").");
  }
  auto symbols = std::make_shared<CuptiSymbols>();
#define ENTRY(name)                                                                                          \
  if (!find_entry(library, #name, symbols->name)) {                                                          \
    return failure(StatusCode::kUnavailable, "CUPTI is too old: it has no '" #name "'; 12.0 has them all."); \
  }
  ENTRY(cuptiSubscribe)
  ENTRY(cuptiUnsubscribe)
  ENTRY(cuptiEnableCallback)
  ENTRY(cuptiGetGraphNodeId)
  ENTRY(cuptiActivityEnable)
  ENTRY(cuptiActivityDisable)
  ENTRY(cuptiActivityRegisterCallbacks)
  ENTRY(cuptiActivityRegisterTimestampCallback)
  ENTRY(cuptiActivityGetNextRecord)
  ENTRY(cuptiActivityFlushAll)
  ENTRY(cuptiActivityPushExternalCorrelationId)
  ENTRY(cuptiActivityPopExternalCorrelationId)
#undef ENTRY
  return std::shared_ptr<const CuptiSymbols>(std::move(symbols));
}

}  // namespace baton::hal::drivers::cuda
