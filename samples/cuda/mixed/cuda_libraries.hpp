// cuBLAS, cuFFT and what of the driver they need here, opened at run time: the module builds and loads where there is
// no CUDA. The declarations are those of the libraries' own headers.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>

#include "modules/sdk/status.hpp"

namespace mixed {

struct CudaLibraries {
  // libcuda
  int (*context_push)(void* context);
  int (*context_pop)(void** context);
  int (*allocate)(uint64_t* address, size_t bytes);
  int (*release)(uint64_t address);
  // cuBLAS: everything is column by column
  int (*blas_create)(void** handle);
  int (*blas_destroy)(void* handle);
  int (*blas_set_stream)(void* handle, void* stream);
  int (*blas_set_workspace)(void* handle, void* workspace, size_t bytes);
  int (*blas_sgemm)(void* handle, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a, int lda,
                    const float* b, int ldb, const float* beta, float* c, int ldc);
  // cuFFT
  int (*fft_plan)(int* plan, int count, int kind, int batch);
  int (*fft_destroy)(int plan);
  int (*fft_set_stream)(int plan, void* stream);
  int (*fft_execute)(int plan, const void* from, void* to, int direction);

  static constexpr int kComplexToComplex = 0x29, kForward = -1;

  static baton::sdk::Result<CudaLibraries> open() {
    using namespace baton::sdk;
    CudaLibraries all = {};
    BATON_ASSIGN_OR_RETURN(void* const driver, open_one({"libcuda.so.1"}));
    BATON_ASSIGN_OR_RETURN(void* const blas, open_one({"libcublas.so", "libcublas.so.13", "libcublas.so.12",
                                                       "/usr/local/cuda/lib64/libcublas.so"}));
    BATON_ASSIGN_OR_RETURN(void* const fft, open_one({"libcufft.so", "libcufft.so.12", "libcufft.so.11",
                                                      "/usr/local/cuda/lib64/libcufft.so"}));
    BATON_OR_RETURN(find(driver, "cuCtxPushCurrent_v2", all.context_push));
    BATON_OR_RETURN(find(driver, "cuCtxPopCurrent_v2", all.context_pop));
    BATON_OR_RETURN(find(driver, "cuMemAlloc_v2", all.allocate));
    BATON_OR_RETURN(find(driver, "cuMemFree_v2", all.release));
    BATON_OR_RETURN(find(blas, "cublasCreate_v2", all.blas_create));
    BATON_OR_RETURN(find(blas, "cublasDestroy_v2", all.blas_destroy));
    BATON_OR_RETURN(find(blas, "cublasSetStream_v2", all.blas_set_stream));
    BATON_OR_RETURN(find(blas, "cublasSetWorkspace_v2", all.blas_set_workspace));
    BATON_OR_RETURN(find(blas, "cublasSgemm_v2", all.blas_sgemm));
    BATON_OR_RETURN(find(fft, "cufftPlan1d", all.fft_plan));
    BATON_OR_RETURN(find(fft, "cufftDestroy", all.fft_destroy));
    BATON_OR_RETURN(find(fft, "cufftSetStream", all.fft_set_stream));
    BATON_OR_RETURN(find(fft, "cufftExecC2C", all.fft_execute));
    return all;
  }

 private:
  static baton::sdk::Result<void*> open_one(std::initializer_list<const char*> names) {
    std::string said;
    for (const char* name : names) {
      if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
      said += std::string(said.empty() ? "" : "; ") + dlerror();
    }
    return baton::sdk::failure(baton::sdk::StatusCode::kUnavailable, "A CUDA library cannot be opened: ", said, ".");
  }
  template <typename Function>
  static baton::sdk::Status find(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    if (function) return {};
    return baton::sdk::failure(baton::sdk::StatusCode::kUnavailable, "A CUDA library has no '", name, "'.");
  }
};

}  // namespace mixed
