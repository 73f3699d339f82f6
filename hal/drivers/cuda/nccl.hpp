// NCCL, opened at run time through one table (nccl.inc), so that a fake one runs the tests where there is no GPU.
//
// Threads: immutable.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "hal/commands/collective.hpp"
#include "hal/drivers/cuda/symbols.hpp"

namespace baton::hal::drivers::cuda {

struct NcclId {
  char bytes[128];
};
using NcclComm = struct NcclCommunicator*;  // Theirs.

struct Nccl {
#define NCCL(name, parameters) int(*name) parameters = nullptr;
#include "hal/drivers/cuda/nccl.inc"
#undef NCCL
  const char* (*ncclGetErrorString)(int result) = nullptr;
  const char* (*ncclGetLastError)(NcclComm comm) = nullptr;

  // "ncclAllReduce failed: unhandled system error (2), connection closed by peer."
  Status status_of(int result, const char* call, NcclComm comm = nullptr) const;
};

// BATON_NCCL names the library; else libnccl.so.2 is looked for as the loader does, then in the Python environment.
Result<std::shared_ptr<const Nccl>> load_nccl();

// The numbers of ncclDataType_t and ncclRedOp_t.
enum : int {
  kNcclInt8,
  kNcclUint8,
  kNcclInt32,
  kNcclUint32,
  kNcclInt64,
  kNcclUint64,
  kNcclFloat16,
  kNcclFloat32,
  kNcclFloat64,
  kNcclBfloat16
};
enum : int { kNcclSum, kNcclProduct, kNcclMaximum, kNcclMinimum, kNcclAverage };

// What NCCL calls an element type and a reduction; `bytes`: as many bytes, whatever they are.
struct NcclType {
  int type;
  int reduction;
  uint64_t bytes;  // Of one of them.
};
Result<NcclType> nccl_type(CollectiveOperation operation, Reduction reduction, ElementType type);

}  // namespace baton::hal::drivers::cuda

// Calls an entry of `nccl`; returns a failure to the caller, goes on when it succeeded.
#define BATON_NCCL_TRY(nccl, comm, entry, ...)                                                     \
  do {                                                                                             \
    if (const int baton_nccl_result_ = (nccl).entry(__VA_ARGS__); baton_nccl_result_) [[unlikely]] \
      return (nccl).status_of(baton_nccl_result_, #entry, comm);                                   \
  } while (false)
