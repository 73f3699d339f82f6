// NCCL, and what of the CUDA driver is needed beside it, opened at run time: the module builds and loads where neither is
// there. The declarations are those of their own headers.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "modules/sdk/status.hpp"

namespace sample {

struct NcclId {
  char bytes[128];
};

struct NcclLibrary {
  // libcuda
  int (*context_push)(void* context);
  int (*context_pop)(void** context);
  int (*allocate)(void** memory, size_t bytes, unsigned flags);
  int (*release)(void* memory);
  int (*stream_create)(void** stream, unsigned flags, int priority);
  int (*stream_synchronize)(void* stream);
  int (*stream_destroy)(void* stream);
  // libnccl
  int (*unique_id)(NcclId* id);
  int (*init)(void** communicator, int count, NcclId id, int rank);
  int (*destroy)(void* communicator);
  int (*group_start)();
  int (*group_end)();
  int (*all_reduce)(const void* from, void* to, size_t count, int type, int reduction, void* communicator,
                    void* stream);
  const char* (*error)(int result);
  const char* (*last_error)(void* communicator);

  // BATON_NCCL names the library, as for the runtime.
  static baton::sdk::Result<NcclLibrary> open() {
    NcclLibrary all = {};
    const char* named = std::getenv("BATON_NCCL");
    BATON_ASSIGN_OR_RETURN(void* const driver, open_one("libcuda.so.1"));
    BATON_ASSIGN_OR_RETURN(void* const nccl, open_one(named ? named : "libnccl.so.2"));
    BATON_OR_RETURN(find(driver, "cuCtxPushCurrent_v2", all.context_push));
    BATON_OR_RETURN(find(driver, "cuCtxPopCurrent_v2", all.context_pop));
    BATON_OR_RETURN(find(driver, "cuMemHostAlloc", all.allocate));
    BATON_OR_RETURN(find(driver, "cuMemFreeHost", all.release));
    BATON_OR_RETURN(find(driver, "cuStreamCreateWithPriority", all.stream_create));
    BATON_OR_RETURN(find(driver, "cuStreamSynchronize", all.stream_synchronize));
    BATON_OR_RETURN(find(driver, "cuStreamDestroy_v2", all.stream_destroy));
    BATON_OR_RETURN(find(nccl, "ncclGetUniqueId", all.unique_id));
    BATON_OR_RETURN(find(nccl, "ncclCommInitRank", all.init));
    BATON_OR_RETURN(find(nccl, "ncclCommDestroy", all.destroy));
    BATON_OR_RETURN(find(nccl, "ncclGroupStart", all.group_start));
    BATON_OR_RETURN(find(nccl, "ncclGroupEnd", all.group_end));
    BATON_OR_RETURN(find(nccl, "ncclAllReduce", all.all_reduce));
    BATON_OR_RETURN(find(nccl, "ncclGetErrorString", all.error));
    BATON_OR_RETURN(find(nccl, "ncclGetLastError", all.last_error));
    return all;
  }

  baton::sdk::Status status_of(const char* call, int result) const {
    if (result == 0) return {};
    return baton::sdk::failure(baton::sdk::StatusCode::kUnavailable, call, " failed: ", error(result), ", ",
                               last_error(nullptr), ".");
  }
  baton::sdk::Status driver_status_of(const char* call, int result) const {
    if (result == 0) return {};
    return baton::sdk::failure(baton::sdk::StatusCode::kUnavailable, call, " failed with ", result, ".");
  }

 private:
  static baton::sdk::Result<void*> open_one(const char* name) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    return baton::sdk::failure(baton::sdk::StatusCode::kUnavailable, "A library cannot be opened: ", dlerror(), ".");
  }
  template <typename Function>
  static baton::sdk::Status find(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    if (function) return {};
    return baton::sdk::failure(baton::sdk::StatusCode::kUnavailable, "A library has no '", name, "'.");
  }
};

}  // namespace sample
