// Making communicators with an end: NCCL waits in it for the other ranks, as long as they take. It does so on a thread of
// its own; the caller's waits no longer than its time. A communicator that comes after it is aborted where it comes.
//
// Communicators themselves are NCCL's blocking ones: others start a thread for every collective. One that is still at it
// because the environment made it (NCCL_COMM_BLOCKING=0) is asked until it is there.
#pragma once

#include "hal/drivers/cuda/nccl.hpp"
#include "hal/drivers/cuda/primary_context.hpp"

namespace baton::hal::drivers::cuda {

// What NCCL answers while it is still at it.
inline constexpr int kNcclInProgress = 7;

// DEADLINE_EXCEEDED when the others are not there within timeout_ns.
Result<NcclComm> init_comm(const Ref<PrimaryContext>& context, const std::shared_ptr<const Nccl>& nccl,
                           const NcclId& id, uint32_t rank, uint32_t rank_count, int64_t timeout_ns);
// Null for a color below 0. After DEADLINE_EXCEEDED NCCL is still in `comm`: who aborts it ends that, too.
Result<NcclComm> split_comm(const Ref<PrimaryContext>& context, const std::shared_ptr<const Nccl>& nccl, NcclComm comm,
                            int color, int key, int64_t timeout_ns);

}  // namespace baton::hal::drivers::cuda
