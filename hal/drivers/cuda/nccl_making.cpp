#include "hal/drivers/cuda/nccl_making.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "hal/drivers/cuda/context_scope.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// What the thread that NCCL has and the one that waits for it tell each other.
struct Making {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;       // Guarded by mutex, as is all below.
  bool abandoned = false;  // No thread waits any more.
  Status failed;
  NcclComm made = nullptr;

  bool is_abandoned() {
    std::lock_guard lock(mutex);
    return abandoned;
  }
};

template <typename Call>
int call_and_settle(const Nccl& nccl, const Call& call, Making& making, NcclComm& made) {
  int result = call(&made);
  while ((result == 0 || result == kNcclInProgress) && made) {
    int state = 0;
    const int asked = nccl.ncclCommGetAsyncError(made, &state);
    result = asked != 0 ? asked : state;
    if (result != kNcclInProgress || making.is_abandoned()) break;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return result;
}

template <typename Call>
void run(const PrimaryContext& context, const Nccl& nccl, const char* name, const Call& call, Making& making) {
  const ContextScope scope(context.symbols(), context.handle());
  NcclComm made = nullptr;
  const int result = call_and_settle(nccl, call, making, made);
  Status failed = nccl.status_of(result, name, made);  // Here: NCCL's sentence may be this thread's.
  {
    std::lock_guard lock(making.mutex);
    making.done = true;
    making.failed = std::move(failed);
    making.made = made;
    making.changed.notify_all();
    if (!making.abandoned) return;
  }
  if (made) nccl.ncclCommAbort(made);
}

template <typename Call>
Result<NcclComm> make_in_time(const Ref<PrimaryContext>& context, const std::shared_ptr<const Nccl>& nccl,
                              const char* name, int64_t timeout_ns, const Call& call) {
  const auto making = std::make_shared<Making>();
  std::thread thread([context = context, nccl = nccl, name, call, making]() mutable {
    run(*context, *nccl, name, call, *making);
    context = nullptr;
    nccl = nullptr;
  });
  {
    std::unique_lock lock(making->mutex);
    const auto is_done = [&] { return making->done; };
    if (!making->changed.wait_for(lock, std::chrono::nanoseconds(timeout_ns), is_done)) {
      making->abandoned = true;
      thread.detach();
      return failure(StatusCode::kDeadlineExceeded, name, " did not come back within ", timeout_ns / 1'000'000,
                     " ms: NCCL waits for another rank that is gone, or late, or can't be reached.");
    }
  }
  thread.join();
  if (making->failed.ok()) return making->made;
  if (making->made) {
    const ContextScope scope(context->symbols(), context->handle());
    nccl->ncclCommAbort(making->made);
  }
  return std::move(making->failed);
}

}  // namespace

Result<NcclComm> init_comm(const Ref<PrimaryContext>& context, const std::shared_ptr<const Nccl>& nccl,
                           const NcclId& id, uint32_t rank, uint32_t rank_count, int64_t timeout_ns) {
  const auto call = [entry = nccl->ncclCommInitRank, id, rank, rank_count](NcclComm* made) {
    return entry(made, static_cast<int>(rank_count), id, static_cast<int>(rank));
  };
  return make_in_time(context, nccl, "ncclCommInitRank", timeout_ns, call);
}

Result<NcclComm> split_comm(const Ref<PrimaryContext>& context, const std::shared_ptr<const Nccl>& nccl, NcclComm comm,
                            int color, int key, int64_t timeout_ns) {
  const auto call = [entry = nccl->ncclCommSplit, comm, color, key](NcclComm* made) {
    return entry(comm, color, key, made, nullptr);
  };
  return make_in_time(context, nccl, "ncclCommSplit", timeout_ns, call);
}

}  // namespace baton::hal::drivers::cuda
