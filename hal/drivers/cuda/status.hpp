// CUresult → Status: one table of meanings, one sentence.
#pragma once

#include "base/status.hpp"
#include "hal/drivers/cuda/symbols.hpp"

namespace baton::hal::drivers::cuda {

StatusCode status_code(CUresult result);
// "CUDA_ERROR_INVALID_VALUE (1, invalid argument)".
std::string result_text(const Symbols& symbols, CUresult result);
// "cuGraphLaunch failed: CUDA_ERROR_INVALID_VALUE (1, invalid argument)."
Status cuda_failure(const Symbols& symbols, CUresult result, const char* call);

// Whether the result says that the context is broken for good: whatever is called next fails with the same.
bool loses_device(CUresult result);

}  // namespace baton::hal::drivers::cuda

// Calls an entry of `symbols`; returns a failure to the caller, goes on when it succeeded.
#define BATON_CUDA_TRY(symbols, entry, ...)                                                                   \
  do {                                                                                                        \
    if (const CUresult baton_cuda_result_ = (symbols).entry(__VA_ARGS__); baton_cuda_result_ != CUDA_SUCCESS) \
        [[unlikely]]                                                                                          \
      return ::baton::hal::drivers::cuda::cuda_failure((symbols), baton_cuda_result_, #entry);                \
  } while (false)
