// NcclChannel: ranks on GPUs, of this process and of others, through NCCL.
//
// Its work is enqueued on streams and captured into graphs like a library's (foreign.cpp), in order with everything
// around it.
// Threads: internally synchronized.
#pragma once

#include <mutex>

#include "hal/channel.hpp"
#include "hal/drivers/cuda/nccl.hpp"
#include "hal/drivers/cuda/primary_context.hpp"
#include "hal/foreign_function.hpp"

namespace baton::hal::drivers::cuda {

class NcclChannel final : public Channel {
 public:
  // `nccl` null: the one of this machine.
  static Result<Ref<Channel>> make(PrimaryContext& context, std::shared_ptr<const Nccl> nccl,
                                   const ChannelRequest& request);
  NcclChannel(std::string_view name, uint32_t rank, uint32_t rank_count, Ref<PrimaryContext> context,
              std::shared_ptr<const Nccl> nccl, NcclComm comm);
  ~NcclChannel() override;

  // Enqueues on `stream`, whose context is current. The command's bindings stand in `source` and `target`.
  Status enqueue(const commands::Collective& command, const ForeignBinding& source, const ForeignBinding& target,
                 CUstream stream);

 private:
  // NCCL connects ranks when they first exchange something, by means that a capture forbids: so they do it here.
  Status connect();
  Result<Ref<Channel>> do_split(std::string_view name, int32_t color, int32_t key) override;
  Status start(const commands::Collective& command, const ForeignBinding& source, const ForeignBinding& target,
               CUstream stream);
  Status exchange(const commands::Collective& command, const ForeignBinding& source, const ForeignBinding& target,
                  CUstream stream);

  const Ref<PrimaryContext> context_;
  const std::shared_ptr<const Nccl> nccl_;
  std::mutex mutex_;
  NcclComm comm_;  // Guarded by mutex_.
};

}  // namespace baton::hal::drivers::cuda
