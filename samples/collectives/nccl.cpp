// A module whose command calls NCCL itself: the sum and the maximum over the ranks, as one group of two all-reduces, which
// NCCL does in one launch. A program records it with the kernels around it. On a stream it is enqueued among them; in a
// CUDA graph it is captured for the memory of a table, and exchanged when a table brings other memory.
//
//   --module=nccl.so                                            one rank: a GPU, or a host
//   --module=nccl.so?ranks=2&rank=1&id=/shared/id&timeout=60    several: rank 0 writes NCCL's id into a file that all see
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "modules/sdk/module.hpp"
#include "nccl_library.hpp"

namespace {

using namespace baton::sdk;
using sample::NcclId;
using sample::NcclLibrary;

struct Ranks {
  int rank = 0;
  int count = 1;
  std::string id_file;
  int timeout_s = 60;
};

// A communicator on one device. Recordings keep it, because their graphs run its kernels.
// Threads: internally synchronized.
class Communicator {
 public:
  static Result<std::shared_ptr<Communicator>> make(Device& device, const Ranks& ranks) {
    BATON_ASSIGN_OR_RETURN(const NcclLibrary library, NcclLibrary::open());
    BATON_ASSIGN_OR_RETURN(const int64_t context, device.query("cuda", "context"));
    auto made = std::make_shared<Communicator>(library, reinterpret_cast<void*>(context));
    BATON_ASSIGN_OR_RETURN(const NcclId id, agree_on_id(library, ranks));
    const Current current(*made);
    BATON_OR_RETURN(
        library.status_of("ncclCommInitRank", library.init(&made->communicator_, ranks.count, id, ranks.rank)));
    BATON_OR_RETURN(made->connect());
    return made;
  }
  Communicator(const NcclLibrary& library, void* context) : use_(library), context_(context) {}
  ~Communicator() {
    const Current current(*this);
    if (communicator_) use_.destroy(communicator_);
  }

  // Only enqueues: it may stand in a capture.
  Status sum_and_max(const float* x, float* sum, float* most, size_t count, void* stream) {
    constexpr int kFloat32 = 7, kSum = 0, kMaximum = 2;
    std::lock_guard lock(mutex_);  // A communicator is used by one thread at a time.
    BATON_OR_RETURN(use_.status_of("ncclGroupStart", use_.group_start()));
    const int first = use_.all_reduce(x, sum, count, kFloat32, kSum, communicator_, stream);
    const int second = use_.all_reduce(x, most, count, kFloat32, kMaximum, communicator_, stream);
    const int ended = use_.group_end();  // Whatever happened: the group is open.
    return use_.status_of("ncclAllReduce", first ? first : second ? second : ended);
  }

 private:
  // The device's context, current on this thread.
  struct Current {
    explicit Current(const Communicator& of) : use(of.use_) { use.context_push(of.context_); }
    ~Current() {
      void* popped = nullptr;
      use.context_pop(&popped);
    }
    const NcclLibrary& use;
  };

  // Rank 0 makes the id; whoever reads the file sees all of it or nothing.
  static Result<NcclId> agree_on_id(const NcclLibrary& library, const Ranks& ranks) {
    NcclId id = {};
    if (ranks.rank == 0) BATON_OR_RETURN(library.status_of("ncclGetUniqueId", library.unique_id(&id)));
    if (ranks.count == 1) return id;
    if (ranks.rank == 0) {
      const std::string unfinished = ranks.id_file + ".unfinished";
      std::FILE* file = std::fopen(unfinished.c_str(), "wb");
      const bool written = file && std::fwrite(&id, sizeof(id), 1, file) == 1;
      if (file && std::fclose(file) == 0 && written && std::rename(unfinished.c_str(), ranks.id_file.c_str()) == 0) {
        return id;
      }
      return failure(StatusCode::kUnavailable, "NCCL's id cannot be written to '", ranks.id_file, "'.");
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(ranks.timeout_s);
    while (std::chrono::steady_clock::now() < end) {
      if (std::FILE* file = std::fopen(ranks.id_file.c_str(), "rb")) {
        const bool is_whole = std::fread(&id, sizeof(id), 1, file) == 1;
        std::fclose(file);
        if (is_whole) return id;
        return failure(StatusCode::kInvalidArgument, "'", ranks.id_file, "' holds no id of NCCL's.");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return failure(StatusCode::kDeadlineExceeded, "Rank 0 did not write '", ranks.id_file, "' within ", ranks.timeout_s,
                   " s.");
  }

  // NCCL connects ranks when they first exchange something, by means that a capture forbids.
  Status connect() {
    constexpr unsigned kPortable = 1, kMapped = 2, kNonBlocking = 1;
    void* memory = nullptr;
    void* stream = nullptr;
    BATON_OR_RETURN(use_.driver_status_of("cuMemHostAlloc", use_.allocate(&memory, 64, kPortable | kMapped)));
    Status status = use_.driver_status_of("cuStreamCreate", use_.stream_create(&stream, kNonBlocking, 0));
    if (status.ok()) {
      auto* words = static_cast<float*>(memory);
      status = sum_and_max(words, words + 4, words + 8, 1, stream);
      Status waited = use_.driver_status_of("cuStreamSynchronize", use_.stream_synchronize(stream));
      if (status.ok()) status = std::move(waited);
      use_.stream_destroy(stream);
    }
    use_.release(memory);
    return status;
  }

  const NcclLibrary use_;
  void* const context_;
  std::mutex mutex_;
  void* communicator_ = nullptr;  // Guarded by mutex_.
};

class Collectives final : public Module<Collectives> {
 public:
  static Result<std::unique_ptr<Collectives>> make(const Parameters& parameters) {
    auto made = std::make_unique<Collectives>();
    Ranks& ranks = made->ranks_;
    for (const auto& [key, number] :
         {std::pair<const char*, int*>{"rank", &ranks.rank}, {"ranks", &ranks.count}, {"timeout", &ranks.timeout_s}}) {
      const auto said = parameters.find(key);
      if (said && std::sscanf(std::string(*said).c_str(), "%d", number) != 1) {
        return failure(StatusCode::kInvalidArgument, "Parameter '", key, "' is '", *said, "', which is no number.");
      }
    }
    ranks.id_file = parameters.find("id").value_or("");
    if (ranks.count < 1 || ranks.rank < 0 || ranks.rank >= ranks.count) {
      return failure(StatusCode::kInvalidArgument, "There is no rank ", ranks.rank, " of ", ranks.count, ".");
    }
    if (ranks.count > 1 && ranks.id_file.empty()) {
      return failure(StatusCode::kInvalidArgument,
                     "Several ranks need the parameter 'id': a file that all of them see.");
    }
    return made;
  }

  // Before anything is captured; on every rank, as ranks meet here.
  Status prepare(Device& device) {
    std::shared_ptr<Communicator> communicator;
    if (device.driver() == Cuda::kDriver) {
      BATON_ASSIGN_OR_RETURN(communicator, Communicator::make(device, ranks_));
    } else if (ranks_.count > 1) {
      return failure(StatusCode::kUnimplemented, "Device '", device.name(), "' has no NCCL, which ", ranks_.count,
                     " ranks need.");
    }
    devices_.add(device, std::move(communicator));
    return {};
  }

  // sum, most = the sum and the largest of x over the ranks, element by element.
  Status sum_and_max(CommandBuffer& rec, Binding<const float> x, Binding<float> sum, Binding<float> most) {
    if (sum.size() != x.size() || most.size() != x.size()) {
      return failure(StatusCode::kInvalidArgument, "sum_and_max has ", x.size(), ", ", sum.size(), " and ", most.size(),
                     " elements.");
    }
    return rec.foreign(
        [communicator = devices_[rec.device()]](Foreign& here, DeviceSpan<const float> from, DeviceSpan<float> total,
                                                DeviceSpan<float> largest) -> Status {
          if (!communicator) {  // A rank alone, on a host.
            std::ranges::copy(from.host(), total.host().begin());
            std::ranges::copy(from.host(), largest.host().begin());
            return {};
          }
          BATON_ASSIGN_OR_RETURN(const baton_cuda_stream on, here.cuda().stream());
          return communicator->sum_and_max(from.data(), total.data(), largest.data(), from.size(), on.stream);
        },
        x, sum, most);
  }

 private:
  Ranks ranks_;
  PerDevice<std::shared_ptr<Communicator>> devices_;
};

}  // namespace

BATON_EXPORT_MODULE(Collectives, "nccl",  //
                    BATON_COMMAND("sum_and_max", &Collectives::sum_and_max, kCaptureSafe));
