#include "hal/drivers/cuda/peer_reduction.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <new>
#include <random>

#include "hal/drivers/cuda/peer_reduction_code.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using Shape = PeerReductionShape;

uint64_t number_of_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id.empty() ? 0 : std::hash<std::string>()(id);  // 0: nobody else is there.
}

uint64_t number_of_process() {
  static const uint64_t number = [] {
    std::random_device random;
    return uint64_t{random()} << 32 | random();
  }();
  return number;
}

// All ranks have devices of their own in one machine.
bool are_neighbours(std::span<const PeerReduction::Card> cards) {
  for (const PeerReduction::Card& card : cards) {
    if (!card.is_ready || card.machine == 0 || card.machine != cards.front().machine) return false;
    const auto is_same = [&](const PeerReduction::Card& other) { return other.device == card.device; };
    if (std::count_if(cards.begin(), cards.end(), is_same) != 1) return false;
  }
  return true;
}

// What a rank writes to the others grows with their number, as the time does that NCCL takes for few bytes does not.
uint64_t bytes_max(uint32_t rank_count) {
  return std::min(Shape::kDataBytesMax, (uint64_t{768} << 10) / (rank_count - 1));
}

}  // namespace

Result<std::shared_ptr<PeerReduction>> PeerReduction::join(const Ref<PrimaryContext>& context, uint32_t rank,
                                                           uint32_t rank_count, bool wanted, Talk& talk) {
  auto made = std::make_shared<PeerReduction>(context, rank, rank_count);
  constexpr int kOldestArch = 80;
  const bool can =
      wanted && rank_count >= 2 && rank_count <= Shape::kRanksMax && context->facts().arch() >= kOldestArch;
  // A rank that has no memory for it goes without, and so do the others.
  const bool has = can && made->allocate().ok();
  BATON_TRY_ASSIGN(const std::vector<Card> cards, talk.exchange(has ? made->own_card() : Card()));
  const bool opened = has && are_neighbours(cards) && made->open_all(cards);
  BATON_TRY_ASSIGN(const bool all, talk.all(opened));
  if (!all) made = nullptr;
  return made;
}

PeerReduction::~PeerReduction() {
  const ContextScope scope = context_->enter();
  const Symbols& cuda = context_->symbols();
  for (const auto& [as, code] : codes_) {
    if (code.library) cuda.cuLibraryUnload(code.library);
  }
  for (const CUdeviceptr region : opened_) cuda.cuIpcCloseMemHandle(region);
  if (own_) cuda.cuMemFree(own_);
  if (ended_) cuda.cuMemFreeHost(ended_);
}

Status PeerReduction::allocate() {
  const ContextScope scope = context_->enter();
  const Symbols& cuda = context_->symbols();
  void* word = nullptr;
  BATON_CUDA_TRY(cuda, cuMemHostAlloc, &word, sizeof(*ended_), CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  ended_ = new (word) std::atomic<uint32_t>(0);
  const uint64_t bytes = Shape::region_bytes(rank_count_);
  BATON_CUDA_TRY(cuda, cuMemAlloc, &own_, bytes);
  CUstream stream = nullptr;
  BATON_CUDA_TRY(cuda, cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, 0);
  const CUresult filled = cuda.cuMemsetD8Async(own_, 0, bytes, stream);
  const CUresult waited = cuda.cuStreamSynchronize(stream);
  cuda.cuStreamDestroy(stream);
  BATON_TRY(context_->status_of(filled, "cuMemsetD8Async"));
  return context_->status_of(waited, "cuStreamSynchronize");
}

PeerReduction::Card PeerReduction::own_card() const {
  Card card;
  const ContextScope scope = context_->enter();
  if (context_->symbols().cuIpcGetMemHandle(&card.handle, own_) != CUDA_SUCCESS) return card;
  card.machine = number_of_machine();
  card.process = number_of_process();
  card.context = reinterpret_cast<uint64_t>(context_->handle());
  card.region = own_;
  card.device = context_->facts().uuid;
  card.ordinal = context_->device();
  card.is_ready = 1;
  return card;
}

bool PeerReduction::open_all(std::span<const Card> cards) {
  const ContextScope scope = context_->enter();
  for (uint32_t rank = 0; rank < rank_count_; ++rank) {
    uint64_t region = own_;
    if (rank != rank_ && !open_one(cards[rank], region)) return false;
    regions_.push_back(region);
  }
  return true;
}

bool PeerReduction::open_one(const Card& card, uint64_t& region) {
  const Symbols& cuda = context_->symbols();
  if (card.process != number_of_process()) {
    CUdeviceptr opened = 0;
    if (cuda.cuIpcOpenMemHandle(&opened, card.handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) != CUDA_SUCCESS) return false;
    opened_.push_back(opened);
    region = opened;
    return true;
  }
  region = card.region;
  int can = 0;
  if (cuda.cuDeviceCanAccessPeer(&can, context_->device(), card.ordinal) != CUDA_SUCCESS || !can) return false;
  const CUresult enabled = cuda.cuCtxEnablePeerAccess(reinterpret_cast<CUcontext>(card.context), 0);
  return enabled == CUDA_SUCCESS || enabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

Result<CUkernel> PeerReduction::kernel_of(const NcclType& as) {
  std::lock_guard lock(mutex_);
  const auto [found, is_new] = codes_.try_emplace({as.type, as.reduction});
  Code& code = found->second;
  if (code.kernel || !is_new) return code.kernel;
  const std::string ptx = peer_reduction_code(as, rank_count_);
  if (ptx.empty()) return nullptr;
  const ContextScope scope = context_->enter();
  const Symbols& cuda = context_->symbols();
  BATON_CUDA_TRY(cuda, cuLibraryLoadData, &code.library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  CUkernel kernel = nullptr;
  BATON_CUDA_TRY(cuda, cuLibraryGetKernel, &kernel, code.library, kPeerReductionName);
  // What is asked about lies on the device: a capture, which may come next, forbids its loading.
  int threads = 0;
  BATON_CUDA_TRY(cuda, cuKernelGetAttribute, &threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel,
                 context_->device());
  code.kernel = kernel;
  return kernel;
}

Status PeerReduction::prepare(CollectiveOperation operation, const NcclType& as) {
  if (operation != CollectiveOperation::kAllReduce) return {};
  const auto kernel = kernel_of(as);
  return kernel.has_value() ? Status() : kernel.error().clone();
}

bool PeerReduction::takes(CollectiveOperation operation, const NcclType& as, uint64_t bytes) {
  if (operation != CollectiveOperation::kAllReduce || bytes == 0 || bytes > bytes_max(rank_count_)) return false;
  std::lock_guard lock(mutex_);
  const auto found = codes_.find({as.type, as.reduction});
  return found != codes_.end() && found->second.kernel;
}

Status PeerReduction::enqueue(const NcclType& as, const ForeignBinding& source, const ForeignBinding& target,
                              CUstream stream) {
  BATON_TRY_ASSIGN(CUkernel const kernel, kernel_of(as));
  PeerReductionParameters parameters = {.source = source.address,
                                        .target = target.address,
                                        .count = static_cast<uint32_t>(source.length / as.bytes),
                                        .rank = rank_,
                                        .ended = reinterpret_cast<uint64_t>(ended_),
                                        .regions = {}};
  std::copy(regions_.begin(), regions_.end(), parameters.regions);
  size_t size_bytes = offsetof(PeerReductionParameters, regions) + regions_.size() * sizeof(uint64_t);
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &size_bytes,
                   CU_LAUNCH_PARAM_END};
  const uint64_t lines = (source.length + Shape::kLineDataBytes - 1) / Shape::kLineDataBytes;
  const auto groups = static_cast<unsigned>((lines + Shape::kThreads - 1) / Shape::kThreads);
  BATON_CUDA_TRY(context_->symbols(), cuLaunchKernel, reinterpret_cast<CUfunction>(kernel), groups, 1, 1,
                 Shape::kThreads, 1, 1, 0, stream, nullptr, extra);
  return {};
}

void PeerReduction::end() { ended_->store(1, std::memory_order_release); }

}  // namespace baton::hal::drivers::cuda
