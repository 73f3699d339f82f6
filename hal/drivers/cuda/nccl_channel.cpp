#include "hal/drivers/cuda/nccl_channel.hpp"

#include "hal/drivers/cuda/context_scope.hpp"
#include "hal/drivers/cuda/status.hpp"
#include "hal/rank_meeting.hpp"

namespace baton::hal::drivers::cuda {
namespace {

Result<std::string> make_id(const Nccl& nccl) {
  NcclId id = {};
  BATON_NCCL_TRY(nccl, nullptr, ncclGetUniqueId, &id);
  return std::string(id.bytes, sizeof(id.bytes));
}

// Everybody is there and says the same before NCCL waits for them.
Result<NcclId> agree_on_id(const Nccl& nccl, const ChannelRequest& request, RankMeeting& meeting) {
  NcclId id = {};
  Status heard;
  if (request.rank == 0) {
    const auto made = make_id(nccl);
    BATON_TRY(meeting.tell(made));
    made->copy(id.bytes, sizeof(id.bytes));
  } else {
    const auto word = meeting.hear();
    if (!word.has_value())
      heard = word.error().clone();
    else if (word->size() != sizeof(id.bytes))
      heard = failure(StatusCode::kInvalidArgument, "Rank 0's id is none.");
    else
      word->copy(id.bytes, sizeof(id.bytes));
  }
  BATON_TRY(meeting.conclude(std::move(heard)));
  return id;
}

}  // namespace

NcclChannel::NcclChannel(std::string_view name, uint32_t rank, uint32_t rank_count, Ref<PrimaryContext> context,
                         std::shared_ptr<const Nccl> nccl, NcclComm comm)
    : Channel(name, rank, rank_count), context_(std::move(context)), nccl_(std::move(nccl)), comm_(comm) {}

// Recordings that use it are gone: nothing of it runs. A destroy would wait for ranks that may be dead.
NcclChannel::~NcclChannel() {
  const ContextScope scope(context_->symbols(), context_->handle());
  nccl_->ncclCommAbort(comm_);
}

Result<Ref<Channel>> NcclChannel::make(PrimaryContext& context, std::shared_ptr<const Nccl> nccl,
                                       const ChannelRequest& request) {
  if (!request.store) return no_store(request);
  if (!nccl) {
    BATON_TRY_ASSIGN(nccl, load_nccl());
  }
  RankMeeting meeting(request);
  BATON_TRY_ASSIGN(const NcclId id, agree_on_id(*nccl, request, meeting));
  const ContextScope scope(context.symbols(), context.handle());
  NcclComm comm = nullptr;
  BATON_NCCL_TRY(*nccl, nullptr, ncclCommInitRank, &comm, static_cast<int>(request.rank_count), id,
                 static_cast<int>(request.rank));
  auto channel =
      make_ref<NcclChannel>(request.name, request.rank, request.rank_count, Ref(&context), std::move(nccl), comm);
  BATON_TRY(channel->connect());
  return Ref<Channel>(std::move(channel));
}

Result<Ref<Channel>> NcclChannel::do_split(std::string_view part_name, int32_t color, int32_t key) {
  constexpr int kNoColor = -1;
  const ContextScope scope(context_->symbols(), context_->handle());
  std::lock_guard lock(mutex_);
  NcclComm made = nullptr;
  BATON_NCCL_TRY(*nccl_, comm_, ncclCommSplit, comm_, color < 0 ? kNoColor : color, key, &made, nullptr);
  if (color < 0) return Ref<Channel>();
  int own = 0, count = 0;
  BATON_NCCL_TRY(*nccl_, made, ncclCommUserRank, made, &own);
  BATON_NCCL_TRY(*nccl_, made, ncclCommCount, made, &count);
  auto part =
      make_ref<NcclChannel>(part_name, static_cast<uint32_t>(own), static_cast<uint32_t>(count), context_, nccl_, made);
  BATON_TRY(part->connect());
  return Ref<Channel>(std::move(part));
}

Status NcclChannel::connect() {
  constexpr uint64_t kWord = 4;
  const Symbols& cuda = context_->symbols();
  const uint64_t bytes = kWord * rank_count();
  void* memory = nullptr;
  BATON_CUDA_TRY(cuda, cuMemHostAlloc, &memory, 2 * bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  const auto address = reinterpret_cast<uint64_t>(memory);
  const ForeignBinding source = {address, nullptr, bytes}, target = {address + bytes, nullptr, bytes};
  CUstream stream = nullptr;
  Status status = context_->status_of(cuda.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0),
                                      "cuStreamCreateWithPriority");
  if (status.ok()) {
    status = start(
        {.operation = CollectiveOperation::kAllReduce, .reduction = Reduction::kSum, .element_type = ElementType::kU32},
        source, target, stream);
    if (status.ok()) status = start({.operation = CollectiveOperation::kAllToAll}, source, target, stream);
    Status ended = context_->status_of(cuda.cuStreamSynchronize(stream), "cuStreamSynchronize");
    if (status.ok()) status = std::move(ended);
    cuda.cuStreamDestroy(stream);
  }
  cuda.cuMemFreeHost(memory);
  return status;
}

Status NcclChannel::enqueue(const commands::Collective& command, const ForeignBinding& source,
                            const ForeignBinding& target, CUstream stream) {
  std::lock_guard lock(mutex_);
  int failed = 0;  // Of what ran before.
  BATON_NCCL_TRY(*nccl_, comm_, ncclCommGetAsyncError, comm_, &failed);
  BATON_TRY(nccl_->status_of(failed, "An earlier collective", comm_));
  return start(command, source, target, stream);
}

Status NcclChannel::start(const commands::Collective& command, const ForeignBinding& source,
                          const ForeignBinding& target, CUstream stream) {
  BATON_TRY_ASSIGN(const NcclType as, nccl_type(command.operation, command.reduction, command.element_type));
  const auto* from = reinterpret_cast<const void*>(source.address);
  auto* to = reinterpret_cast<void*>(target.address);
  const size_t reads = source.length / as.bytes, writes = target.length / as.bytes;
  const int root = static_cast<int>(command.root);
  switch (command.operation) {
    case CollectiveOperation::kAllReduce:
      return nccl_->status_of(nccl_->ncclAllReduce(from, to, reads, as.type, as.reduction, comm_, stream),
                              "ncclAllReduce", comm_);
    case CollectiveOperation::kReduce:
      return nccl_->status_of(nccl_->ncclReduce(from, to, reads, as.type, as.reduction, root, comm_, stream),
                              "ncclReduce", comm_);
    case CollectiveOperation::kReduceScatter:
      return nccl_->status_of(nccl_->ncclReduceScatter(from, to, writes, as.type, as.reduction, comm_, stream),
                              "ncclReduceScatter", comm_);
    case CollectiveOperation::kAllGather:
      return nccl_->status_of(nccl_->ncclAllGather(from, to, reads, as.type, comm_, stream), "ncclAllGather", comm_);
    case CollectiveOperation::kBroadcast:
      return nccl_->status_of(nccl_->ncclBroadcast(from, to, reads, as.type, root, comm_, stream), "ncclBroadcast",
                              comm_);
    default: return exchange(command, source, target, stream);
  }
}

// Sends and receives that NCCL does at once.
Status NcclChannel::exchange(const commands::Collective& command, const ForeignBinding& source,
                             const ForeignBinding& target, CUstream stream) {
  constexpr int kBytes = 0;
  const auto send = [&](uint64_t offset, uint64_t bytes, uint32_t peer) {
    return nccl_->status_of(nccl_->ncclSend(reinterpret_cast<const void*>(source.address + offset), bytes, kBytes,
                                            static_cast<int>(peer), comm_, stream),
                            "ncclSend", comm_);
  };
  const auto receive = [&](uint64_t offset, uint64_t bytes, uint32_t peer) {
    return nccl_->status_of(nccl_->ncclRecv(reinterpret_cast<void*>(target.address + offset), bytes, kBytes,
                                            static_cast<int>(peer), comm_, stream),
                            "ncclRecv", comm_);
  };
  const bool shares = command.operation == CollectiveOperation::kAllToAll;
  const uint64_t share = source.length / rank_count();
  const bool zeros = command.operation == CollectiveOperation::kPermute && command.from == kNoRank;
  if (zeros && target.length) {
    BATON_CUDA_TRY(context_->symbols(), cuMemsetD8Async, target.address, 0, target.length, stream);
  }
  BATON_NCCL_TRY(*nccl_, comm_, ncclGroupStart);
  Status status;
  for (uint32_t peer = 0; shares && peer < rank_count() && status.ok(); ++peer) {
    status = send(peer * share, share, peer);
    if (status.ok()) status = receive(peer * share, share, peer);
  }
  if (sends_to_one(command.operation) && command.to != kNoRank) status = send(0, source.length, command.to);
  if (status.ok() && receives_from_one(command.operation) && command.from != kNoRank) {
    status = receive(0, target.length, command.from);
  }
  const int ended = nccl_->ncclGroupEnd();
  BATON_TRY(std::move(status));
  return nccl_->status_of(ended, "ncclGroupEnd", comm_);
}

}  // namespace baton::hal::drivers::cuda
