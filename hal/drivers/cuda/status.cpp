#include "hal/drivers/cuda/status.hpp"

namespace baton::hal::drivers::cuda {

StatusCode status_code(CUresult result) {
  switch (result) {
    case CUDA_SUCCESS: return StatusCode::kOk;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: return StatusCode::kInvalidArgument;
    case CUDA_ERROR_OUT_OF_MEMORY: return StatusCode::kResourceExhausted;
    case CUDA_ERROR_NOT_FOUND: return StatusCode::kNotFound;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_DEVICE_UNAVAILABLE: return StatusCode::kUnavailable;
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_MERGE:
    case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED:
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
    case CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD:
    case CUDA_ERROR_CAPTURED_EVENT:
    case CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE:
    case CUDA_ERROR_PEER_ACCESS_NOT_ENABLED: return StatusCode::kFailedPrecondition;
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_PEER_ACCESS_UNSUPPORTED: return StatusCode::kUnimplemented;
    case CUDA_ERROR_NOT_PERMITTED: return StatusCode::kPermissionDenied;
    default: return loses_device(result) ? StatusCode::kDataLoss : StatusCode::kInternal;
  }
}

bool loses_device(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_EXTERNAL_DEVICE: return true;
    default: return false;
  }
}

std::string result_text(const Symbols& symbols, CUresult result) {
  const char* name = nullptr;
  const char* meaning = nullptr;
  if (symbols.cuGetErrorName(result, &name) != CUDA_SUCCESS || !name) name = "an unknown CUDA error";
  if (symbols.cuGetErrorString(result, &meaning) != CUDA_SUCCESS || !meaning) meaning = "no meaning known";
  return text(name, " (", static_cast<int>(result), ", ", meaning, ")");
}

Status cuda_failure(const Symbols& symbols, CUresult result, const char* call) {
  return failure(status_code(result), call, " failed: ", result_text(symbols, result), ".");
}

}  // namespace baton::hal::drivers::cuda
