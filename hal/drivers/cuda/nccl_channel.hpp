// NcclChannel: ranks on GPUs, of this process and of others, through NCCL.
//
// Its work is enqueued on streams and captured into graphs like a library's (foreign.cpp), in order with everything
// around it. Small all-reduces go through the memory of peers (peer_reduction.hpp) where all ranks can.
// Threads: internally synchronized.
#pragma once

#include <mutex>

#include "hal/channel.hpp"
#include "hal/drivers/cuda/nccl.hpp"
#include "hal/drivers/cuda/nccl_watch.hpp"
#include "hal/drivers/cuda/peer_reduction.hpp"
#include "hal/drivers/cuda/primary_context.hpp"
#include "hal/foreign_function.hpp"

namespace baton::hal::drivers::cuda {

class NcclChannel final : public Channel {
 public:
  // `nccl` null: the one of this machine. `peers`: whether this rank reduces through the memory of others.
  static Result<Ref<Channel>> make(PrimaryContext& context, const Ref<Worker>& worker, std::shared_ptr<const Nccl> nccl,
                                   bool peers, const ChannelRequest& request);
  // `series` names what its ranks compare, and no other channel's of the store: programs on several threads, too, may
  // have channels of one name.
  NcclChannel(const ChannelRequest& request, std::string series, Ref<PrimaryContext> context, Ref<Worker> worker,
              std::shared_ptr<const Nccl> nccl, NcclComm comm, bool peers);
  ~NcclChannel() override;

  // Ok, or why the channel ended: another rank died, or was late. It stays so.
  Status check() { return watch_->check(); }
  Status known() { return watch_->known(); }
  // Collectives of it are enqueued, up to the mark.
  void watch(const Ref<Mark>& mark) { watch_->begin(mark); }
  // Where ranks check what they record (ChannelRequest::check_store): whether all of them record this. Ranks of a part
  // that was split off check it, too.
  Status compare(const commands::Collective& command);
  // Before the first capture of such a command.
  Status prepare(const commands::Collective& command);

  // Enqueues on `stream`, whose context is current. The command's bindings stand in `source` and `target`.
  Status enqueue(const commands::Collective& command, const ForeignBinding& source, const ForeignBinding& target,
                 CUstream stream);

 private:
  class PeerTalk;

  // NCCL connects ranks when they first exchange something, by means that a capture forbids: so they do it here.
  Status connect();
  Status connect_nccl(std::span<std::byte> memory, CUstream stream);
  Status connect_peers(std::span<std::byte> memory, CUstream stream);
  // Starts it with the host's memory and waits for it.
  Status perform(const commands::Collective& command, std::span<std::byte> source, std::span<std::byte> target,
                 CUstream stream);
  // The store of a part in which ranks check what they record; null where they don't.
  Result<std::shared_ptr<RankStore>> store_of_part(int32_t color, int32_t key) const;
  Result<Ref<Channel>> do_split(std::string_view name, int32_t color, int32_t key) override;
  Status start(const commands::Collective& command, const ForeignBinding& source, const ForeignBinding& target,
               CUstream stream);
  Status exchange(const commands::Collective& command, const ForeignBinding& source, const ForeignBinding& target,
                  CUstream stream);

  // Waits until the stream has reached this point; a failure ends the channel.
  Status wait_for(CUstream stream);

  const Ref<PrimaryContext> context_;
  const Ref<Worker> worker_;
  const std::shared_ptr<const Nccl> nccl_;
  const int64_t timeout_ns_;
  const std::shared_ptr<RankStore> check_store_;
  const bool wants_peers_;
  const std::string series_;
  std::mutex mutex_;
  NcclComm comm_;  // Guarded by mutex_; watch_ ends it.
  const std::shared_ptr<NcclWatch> watch_;
  std::shared_ptr<PeerReduction> peers_;  // Null: all is NCCL's. Immutable once the channel is connected.
};

}  // namespace baton::hal::drivers::cuda
