// A TVM-FFI library around a kernel, by TVM-FFI's own launcher, as its guide shows it.
#define TVM_FFI_CUBIN_LAUNCHER_USE_DRIVER_API 1
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/cuda/cubin_launcher.h>
#include <tvm/ffi/function.h>

TVM_FFI_EMBED_CUBIN(my_cubin);

void AddOne(tvm::ffi::TensorView x, tvm::ffi::TensorView y) {
  static auto kernel = TVM_FFI_EMBED_CUBIN_GET_KERNEL(my_cubin, "add_one");
  int n = static_cast<int>(x.size(0));
  void* x_ptr = x.data_ptr();
  void* y_ptr = y.data_ptr();
  void* args[] = {&x_ptr, &y_ptr, &n};
  tvm::ffi::dim3 grid((static_cast<unsigned>(n) + 255) / 256);
  tvm::ffi::dim3 block(256);
  DLDevice device = x.device();
  auto stream = static_cast<CUstream>(TVMFFIEnvGetStream(device.device_type, device.device_id));
  TVM_FFI_CHECK_CUBIN_LAUNCHER_CUDA_ERROR(kernel.Launch(args, grid, block, stream));
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(add_one, AddOne)
