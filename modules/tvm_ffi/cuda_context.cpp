#include "modules/tvm_ffi/cuda_context.hpp"

#include <dlfcn.h>

#include <type_traits>

namespace baton::modules::tvm_ffi {
namespace {

// The part of the driver's interface that is needed here; 0 is success.
struct Driver {
  int (*get_device)(int*, int) = nullptr;
  int (*retain)(void**, int) = nullptr;
  int (*release)(int) = nullptr;
  int (*push)(void*) = nullptr;
  int (*pop)(void**) = nullptr;

  bool is_there() const { return get_device && retain && release && push && pop; }
};

// The tensors came from a driver that is loaded; none is loaded for this.
Driver find_driver() {
  Driver driver;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!library) return driver;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  find("cuDeviceGet", driver.get_device);
  find("cuDevicePrimaryCtxRetain", driver.retain);
  find("cuDevicePrimaryCtxRelease_v2", driver.release);
  find("cuCtxPushCurrent_v2", driver.push);
  find("cuCtxPopCurrent_v2", driver.pop);
  return driver;
}

const Driver& driver() {
  static const Driver found = find_driver();
  return found;
}

}  // namespace

CudaContext::CudaContext(int32_t ordinal) {
  if (!driver().is_there() || driver().get_device(&device_, ordinal) != 0) return;
  void* context = nullptr;
  if (driver().retain(&context, device_) != 0) return;
  current_ = driver().push(context) == 0;
  if (!current_) driver().release(device_);
}

CudaContext::~CudaContext() {
  if (!current_) return;
  void* popped = nullptr;
  driver().pop(&popped);
  driver().release(device_);
}

}  // namespace baton::modules::tvm_ffi
