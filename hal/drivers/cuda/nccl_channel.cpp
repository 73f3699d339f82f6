#include "hal/drivers/cuda/nccl_channel.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "hal/drivers/cuda/context_scope.hpp"
#include "hal/drivers/cuda/nccl_making.hpp"
#include "hal/drivers/cuda/status.hpp"
#include "hal/rank_meeting.hpp"
#include "hal/rank_store.hpp"

namespace baton::hal::drivers::cuda {
namespace {

Result<std::string> make_id(const Nccl& nccl) {
  NcclId id = {};
  BATON_NCCL_TRY(nccl, nullptr, ncclGetUniqueId, &id);
  return std::string(id.bytes, sizeof(id.bytes));
}

// All ranks have arrived and agree before NCCL waits for them.
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

// What the ranks of a part say to each other in the store of the whole, where they have other numbers. Parts of several
// splits may have one name: `prefix` tells them apart.
class PartStore final : public RankStore {
 public:
  PartStore(std::shared_ptr<RankStore> whole, std::string prefix, std::vector<uint32_t> members)
      : whole_(std::move(whole)), prefix_(std::move(prefix)), members_(std::move(members)) {}

  Status set(std::string_view key, std::string_view value) override { return whole_->set(text(prefix_, key), value); }
  Result<std::string> get(std::string_view key, uint32_t from, int64_t timeout_ns) override {
    return whole_->get(text(prefix_, key), members_[from], timeout_ns);
  }
  void remove(std::string_view key) override { whole_->remove(text(prefix_, key)); }

 private:
  const std::shared_ptr<RankStore> whole_;
  const std::string prefix_;
  const std::vector<uint32_t> members_;  // The number in the whole of each rank of the part.
};

}  // namespace

NcclChannel::NcclChannel(const ChannelRequest& request, std::string series, Ref<PrimaryContext> context,
                         Ref<Worker> worker, std::shared_ptr<const Nccl> nccl, NcclComm comm, bool peers)
    : Channel(request.name, request.rank, request.rank_count),
      context_(std::move(context)),
      worker_(std::move(worker)),
      nccl_(std::move(nccl)),
      timeout_ns_(request.timeout_ns),
      check_store_(request.check_store),
      wants_peers_(peers),
      series_(std::move(series)),
      comm_(comm),
      watch_(std::make_shared<NcclWatch>(text("in channel '", name(), "' (rank ", rank(), " of ", rank_count(), ")"),
                                         timeout_ns_, context_, nccl_, comm)) {
  worker_->add_guard(watch_);
}

NcclChannel::~NcclChannel() { watch_->close(); }

Result<Ref<Channel>> NcclChannel::make(PrimaryContext& context, const Ref<Worker>& worker,
                                       std::shared_ptr<const Nccl> nccl, bool peers, const ChannelRequest& request) {
  if (!request.store) return no_store(request);
  if (!nccl) {
    BATON_TRY_ASSIGN(nccl, load_nccl());
  }
  RankMeeting meeting(request);
  BATON_TRY_ASSIGN(const NcclId id, agree_on_id(*nccl, request, meeting));
  BATON_TRY_ASSIGN(const NcclComm comm,
                   init_comm(Ref(&context), nccl, id, request.rank, request.rank_count, request.timeout_ns));
  const ContextScope scope(context.symbols(), context.handle());
  auto channel = make_ref<NcclChannel>(request, meeting.key(), Ref(&context), worker, std::move(nccl), comm, peers);
  BATON_TRY(channel->connect());
  return Ref<Channel>(std::move(channel));
}

// Each says its color and its key, and hears the others': in their order the ranks of a part are numbered.
Result<std::shared_ptr<RankStore>> NcclChannel::store_of_part(int32_t color, int32_t key) const {
  if (!check_store_) return std::shared_ptr<RankStore>();
  const std::string split = text(check_store_->next_meeting(text(series_, " splits"), rank()), "/");
  BATON_TRY(check_store_->set(text(split, rank()), text(color < 0 ? -1 : color, " ", key)));
  std::vector<std::pair<int, uint32_t>> found;  // (key, rank)
  for (uint32_t from = 0; from < rank_count(); ++from) {
    BATON_TRY_ASSIGN(const std::string word, check_store_->get(text(split, from), from, timeout_ns_));
    int its_color = -1, its_key = 0;
    if (std::sscanf(word.c_str(), "%d %d", &its_color, &its_key) != 2) {
      return failure(StatusCode::kInvalidArgument, "Rank ", from, " says '", word, "' where it splits a channel.");
    }
    if (its_color == color) found.emplace_back(its_key, from);
  }
  if (color < 0) return std::shared_ptr<RankStore>();
  std::sort(found.begin(), found.end());
  std::vector<uint32_t> members;
  for (const auto& [its_key, from] : found) members.push_back(from);
  return std::shared_ptr<RankStore>(
      std::make_shared<PartStore>(check_store_, text(split, "of ", color, "/"), std::move(members)));
}

Result<Ref<Channel>> NcclChannel::do_split(std::string_view part_name, int32_t color, int32_t key) {
  constexpr int kNoColor = -1;
  const ContextScope scope(context_->symbols(), context_->handle());
  std::lock_guard lock(mutex_);
  BATON_TRY_ASSIGN(std::shared_ptr<RankStore> part_store, store_of_part(color, key));
  BATON_TRY(watch_->check());
  auto split = split_comm(context_, nccl_, comm_, color < 0 ? kNoColor : color, key, timeout_ns_);
  if (!split.has_value()) {
    // NCCL is still in this communicator.
    if (split.error().code() == StatusCode::kDeadlineExceeded) static_cast<void>(watch_->give_up().ok());
    return std::move(split).error();
  }
  const NcclComm made = *split;
  if (color < 0) return Ref<Channel>();
  int own = 0, count = 0;
  BATON_NCCL_TRY(*nccl_, made, ncclCommUserRank, made, &own);
  BATON_NCCL_TRY(*nccl_, made, ncclCommCount, made, &count);
  const ChannelRequest request{.name = part_name,
                               .rank = static_cast<uint32_t>(own),
                               .rank_count = static_cast<uint32_t>(count),
                               .timeout_ns = timeout_ns_,
                               .check_store = std::move(part_store)};
  auto part =
      make_ref<NcclChannel>(request, text(series_, "/", part_name), context_, worker_, nccl_, made, wants_peers_);
  BATON_TRY(part->connect());
  return Ref<Channel>(std::move(part));
}

Status NcclChannel::connect() {
  const Symbols& cuda = context_->symbols();
  const uint64_t bytes = (1 + rank_count()) * sizeof(PeerReduction::Card);
  void* memory = nullptr;
  BATON_CUDA_TRY(cuda, cuMemHostAlloc, &memory, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  const std::span all(static_cast<std::byte*>(memory), bytes);
  CUstream stream = nullptr;
  Status status = context_->status_of(cuda.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0),
                                      "cuStreamCreateWithPriority");
  if (status.ok()) {
    status = connect_nccl(all, stream);
    if (status.ok()) status = connect_peers(all, stream);
    cuda.cuStreamDestroy(stream);
  }
  cuda.cuMemFreeHost(memory);
  return status;
}

Status NcclChannel::connect_nccl(std::span<std::byte> memory, CUstream stream) {
  constexpr uint64_t kWord = 4;
  const uint64_t bytes = kWord * rank_count();
  const auto source = memory.first(bytes), target = memory.subspan(bytes, bytes);
  BATON_TRY(perform(
      {.operation = CollectiveOperation::kAllReduce, .reduction = Reduction::kSum, .element_type = ElementType::kU32},
      source, target, stream));
  return perform({.operation = CollectiveOperation::kAllToAll}, source, target, stream);
}

// By NCCL's collectives, through memory that the host and the device see.
class NcclChannel::PeerTalk final : public PeerReduction::Talk {
 public:
  PeerTalk(NcclChannel& channel, std::span<std::byte> memory, CUstream stream)
      : channel_(channel), memory_(memory), stream_(stream) {}

  Result<std::vector<PeerReduction::Card>> exchange(const PeerReduction::Card& own) override {
    std::vector<PeerReduction::Card> cards(channel_.rank_count());
    const auto source = memory_.first(sizeof(own));
    const auto target = memory_.subspan(sizeof(own), std::span(cards).size_bytes());
    std::memcpy(source.data(), &own, source.size());
    BATON_TRY(channel_.perform({.operation = CollectiveOperation::kAllGather}, source, target, stream_));
    std::memcpy(cards.data(), target.data(), target.size());
    return cards;
  }
  Result<bool> all(bool says_yes) override {
    uint32_t answer = says_yes;
    const auto word = memory_.first(sizeof(answer));
    std::memcpy(word.data(), &answer, word.size());
    BATON_TRY(channel_.perform({.operation = CollectiveOperation::kAllReduce,
                                .reduction = Reduction::kMinimum,
                                .element_type = ElementType::kU32},
                               word, word, stream_));
    std::memcpy(&answer, word.data(), word.size());
    return answer != 0;
  }

 private:
  NcclChannel& channel_;
  const std::span<std::byte> memory_;
  const CUstream stream_;
};

Status NcclChannel::connect_peers(std::span<std::byte> memory, CUstream stream) {
  PeerTalk talk(*this, memory, stream);
  BATON_TRY_ASSIGN(peers_, PeerReduction::join(context_, rank(), rank_count(), wants_peers_, talk));
  if (peers_) watch_->end_also(peers_);
  return {};
}

Status NcclChannel::perform(const commands::Collective& command, std::span<std::byte> source,
                            std::span<std::byte> target, CUstream stream) {
  const auto binding = [](std::span<std::byte> memory) {
    return ForeignBinding{reinterpret_cast<uint64_t>(memory.data()), nullptr, memory.size()};
  };
  Status status = start(command, binding(source), binding(target), stream);
  Status ended = wait_for(stream);
  return status.ok() ? std::move(ended) : std::move(status);
}

Status NcclChannel::prepare(const commands::Collective& command) {
  if (!peers_) return {};
  BATON_TRY_ASSIGN(const NcclType as, nccl_type(command.operation, command.reduction, command.element_type));
  return peers_->prepare(command.operation, as);
}

Status NcclChannel::wait_for(CUstream stream) {
  const Symbols& cuda = context_->symbols();
  CUevent event = nullptr;
  BATON_CUDA_TRY(cuda, cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
  Status status = context_->status_of(cuda.cuEventRecord(event, stream), "cuEventRecord");
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns_);
  while (status.ok()) {
    const CUresult passed = cuda.cuEventQuery(event);
    if (passed == CUDA_SUCCESS) break;
    if (passed != CUDA_ERROR_NOT_READY) status = context_->status_of(passed, "cuEventQuery");
    if (status.ok()) status = watch_->check();
    if (status.ok() && std::chrono::steady_clock::now() > end) status = watch_->give_up();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  if (!status.ok()) cuda.cuStreamSynchronize(stream);  // An ended communicator lets go of it.
  cuda.cuEventDestroy(event);
  return status;
}

// Compares what all ranks must state alike; whom a rank sends to may differ.
Status NcclChannel::compare(const commands::Collective& command) {
  const bool is_everyones =
      command.operation != CollectiveOperation::kSend && command.operation != CollectiveOperation::kReceive;
  if (!check_store_ || !is_everyones) return {};
  std::string own = text(commands::collective_name(command.operation), " of ", command.source.length, " bytes of ",
                         element_type_name(command.element_type));
  if (reduces(command.operation)) own += text(", ", commands::reduction_name(command.reduction));
  if (has_root(command.operation)) own += text(", root ", command.root);
  const std::string meeting_name = text(series_, " records");
  const ChannelRequest request{meeting_name, rank(), rank_count(), check_store_.get(), timeout_ns_};
  RankMeeting meeting(request);
  if (rank() == 0) {
    BATON_TRY(meeting.tell(own));
    return meeting.conclude({});
  }
  const auto first = meeting.hear();
  if (!first.has_value()) return meeting.conclude(first.error().clone());
  if (*first == own) return meeting.conclude({});
  return meeting.conclude(failure(StatusCode::kInvalidArgument, "The ranks of channel '", name(),
                                  "' disagree: rank 0 records ", *first, ", rank ", rank(), " ", own, "."));
}

Status NcclChannel::enqueue(const commands::Collective& command, const ForeignBinding& source,
                            const ForeignBinding& target, CUstream stream) {
  std::lock_guard lock(mutex_);
  BATON_TRY(watch_->known());  // Of what ran before.
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
      if (peers_ && peers_->takes(command.operation, as, source.length)) {
        return peers_->enqueue(as, source, target, stream);
      }
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
