// A fake NCCL as a file that is opened in place of libnccl.so.2 (BATON_NCCL), for programs that tests do not link. Its ranks
// are processes on fake GPUs (fake_libcuda.cpp), and do exchange what they have: through mailboxes in a file that each of
// them maps, one for each pair. Work is a host function on the stream it is given, so it is captured like NCCL's own.
//
// As NCCL it refuses two ranks on one GPU, and waits for a rank that is gone until it is aborted.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int kRanksMax = 4;
constexpr size_t kBoxBytes = size_t{1} << 20;
// NCCL's numbers.
enum Result { kOk, kSystemError = 2, kInternalError = 3, kInvalidArgument = 4, kInvalidUsage = 5, kRemoteError = 6 };
constexpr int kVersion = 22809;

struct Mailbox {
  std::atomic<uint32_t> full;
  uint32_t bytes;
  std::byte data[kBoxBytes];
};
// What a file that was just made has: zeros.
struct Shared {
  std::atomic<int> device_and_one[kRanksMax];  // 0: the rank is not there yet.
  std::atomic<int> process[kRanksMax];
  std::atomic<int> left;
  Mailbox boxes[kRanksMax][kRanksMax];  // [from][to]
};

thread_local std::string last_error;

struct Id {
  char bytes[128];
};

// What one call, or one group of calls, does in its turn on the stream.
struct Work {
  struct Send {
    int to;
    const std::byte* from;
    size_t bytes;
  };
  struct Receive {
    int from;
    std::byte* to;
    size_t bytes;
  };
  std::vector<Send> sends = {};
  std::vector<Receive> receives = {};
  // Of what all ranks sent, this rank's own among it.
  void (*combine)(const Work& work, const std::vector<std::vector<std::byte>>& all) = nullptr;
  size_t own_bytes = 0;
  const std::byte* own = nullptr;
  std::byte* target = nullptr;
  int type = 0, reduction = 0, root = -1;
  struct Comm* comm = nullptr;
};

struct Comm {
  std::string path;
  Shared* shared = nullptr;
  int rank = 0, count = 1, splits = 0;
  std::atomic<bool> aborted = false;
  std::vector<std::unique_ptr<Work>> works = {};  // As long as graphs may run them.
};

// ---- Exchange -------------------------------------------------------------------------------------------------------

// A rank that ended, though its parent did not ask yet.
bool is_gone(int process) {
  if (process == 0) return false;
  char line[256] = {};
  std::FILE* file = std::fopen(("/proc/" + std::to_string(process) + "/stat").c_str(), "r");
  if (!file) return true;
  const size_t got = std::fread(line, 1, sizeof(line) - 1, file);
  std::fclose(file);
  const char* const name_end = got ? std::strrchr(line, ')') : nullptr;
  return !name_end || name_end[2] == 'Z';
}

// Longer than tests let ranks wait: then the process ends somehow, though nothing else comes through to the fake GPU.
std::chrono::seconds longest_wait() {
  const char* seconds = std::getenv("BATON_RANK_TIMEOUT");
  return std::chrono::seconds(seconds ? 2 * std::atoi(seconds) : 60);
}

// False: it was aborted, or a rank is gone.
template <typename Condition>
bool wait_until(Comm& comm, const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + longest_wait();
  for (int round = 0; !condition(); ++round) {
    if (std::chrono::steady_clock::now() > end) comm.aborted = true;
    if (comm.aborted) return false;
    for (int rank = 0; round % 64 == 63 && rank < comm.count; ++rank) {
      if (!is_gone(comm.shared->process[rank]) || condition()) continue;
      comm.aborted = true;
      return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return true;
}

bool send(Comm& comm, int to, const std::byte* data, size_t bytes) {
  Mailbox& box = comm.shared->boxes[comm.rank][to];
  if (!wait_until(comm, [&] { return box.full == 0; })) return false;
  box.bytes = static_cast<uint32_t>(bytes);
  if (bytes) std::memcpy(box.data, data, bytes);
  box.full = 1;
  return true;
}

bool receive(Comm& comm, int from, std::vector<std::byte>& out) {
  Mailbox& box = comm.shared->boxes[from][comm.rank];
  if (!wait_until(comm, [&] { return box.full == 1; })) return false;
  out.assign(box.data, box.data + box.bytes);
  box.full = 0;
  return true;
}

bool gather(Comm& comm, const std::byte* own, size_t bytes, std::vector<std::vector<std::byte>>& all) {
  all.resize(static_cast<size_t>(comm.count));
  for (int to = 0; to < comm.count; ++to) {
    if (!send(comm, to, own, bytes)) return false;
  }
  for (int from = 0; from < comm.count; ++from) {
    if (!receive(comm, from, all[static_cast<size_t>(from)])) return false;
  }
  return true;
}

void run(void* data) {
  auto& work = *static_cast<Work*>(data);
  Comm& comm = *work.comm;
  if (work.combine) {
    std::vector<std::vector<std::byte>> all;
    if (gather(comm, work.own, work.own_bytes, all)) work.combine(work, all);
    return;
  }
  for (const Work::Send& each : work.sends) {
    if (!send(comm, each.to, each.from, each.bytes)) return;
  }
  for (const Work::Receive& each : work.receives) {
    std::vector<std::byte> got;
    if (!receive(comm, each.from, got)) return;
    std::memcpy(each.to, got.data(), std::min(got.size(), each.bytes));
  }
}

// ---- Reductions -----------------------------------------------------------------------------------------------------

size_t bytes_of(int type) {
  constexpr size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return sizes[type];
}

template <typename T>
void reduce_as(const Work& work, const std::vector<std::vector<std::byte>>& all, size_t first, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    T result = {};
    for (size_t rank = 0; rank < all.size(); ++rank) {
      T value;
      std::memcpy(&value, all[rank].data() + (first + i) * sizeof(T), sizeof(T));
      if (rank == 0) {
        result = value;
      } else if (work.reduction == 1) {
        result = static_cast<T>(result * value);
      } else if (work.reduction == 2) {
        result = std::max(result, value);
      } else if (work.reduction == 3) {
        result = std::min(result, value);
      } else {
        result = static_cast<T>(result + value);
      }
    }
    if (work.reduction == 4) result = static_cast<T>(result / static_cast<T>(all.size()));
    std::memcpy(work.target + i * sizeof(T), &result, sizeof(T));
  }
}

void reduce_range(const Work& work, const std::vector<std::vector<std::byte>>& all, size_t first, size_t count) {
  switch (work.type) {
    case 0: return reduce_as<int8_t>(work, all, first, count);
    case 1: return reduce_as<uint8_t>(work, all, first, count);
    case 2: return reduce_as<int32_t>(work, all, first, count);
    case 3: return reduce_as<uint32_t>(work, all, first, count);
    case 4: return reduce_as<int64_t>(work, all, first, count);
    case 5: return reduce_as<uint64_t>(work, all, first, count);
    case 7: return reduce_as<float>(work, all, first, count);
    default: return reduce_as<double>(work, all, first, count);
  }
}

void reduce_all(const Work& work, const std::vector<std::vector<std::byte>>& all) {
  if (work.root >= 0 && work.root != work.comm->rank) return;
  reduce_range(work, all, 0, work.own_bytes / bytes_of(work.type));
}
void reduce_part(const Work& work, const std::vector<std::vector<std::byte>>& all) {
  const size_t part = work.own_bytes / bytes_of(work.type) / all.size();
  reduce_range(work, all, part * static_cast<size_t>(work.comm->rank), part);
}
void take_root(const Work& work, const std::vector<std::vector<std::byte>>& all) {
  const auto& said = all[static_cast<size_t>(work.root)];
  std::memcpy(work.target, said.data(), said.size());
}
void take_all(const Work& work, const std::vector<std::vector<std::byte>>& all) {
  std::byte* to = work.target;
  for (const auto& each : all) {
    std::memcpy(to, each.data(), each.size());
    to += each.size();
  }
}

// ---- Calls ----------------------------------------------------------------------------------------------------------

// Of the fake driver.
template <typename Function>
Function driver(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
}

int fail(int result, std::string why) {
  last_error = std::move(why);
  return result;
}

struct Group {
  int depth = 0;
  std::vector<std::pair<std::unique_ptr<Work>, void*>> works = {};  // With their streams.
};
thread_local Group group;

int enqueue(std::unique_ptr<Work> work, void* stream) {
  static const auto launch = driver<int (*)(void*, void (*)(void*), void*)>("cuLaunchHostFunc");
  Comm& comm = *work->comm;
  comm.works.push_back(std::move(work));
  return launch && launch(stream, run, comm.works.back().get()) == 0 ? kOk : fail(kSystemError, "no launch");
}

int combine(void (*how)(const Work&, const std::vector<std::vector<std::byte>>&), const void* source, void* target,
            size_t bytes, int type, int reduction, int root, Comm* comm, void* stream) {
  if (bytes > kBoxBytes) return fail(kInvalidArgument, "the fake has room for 1 MiB");
  auto work = std::make_unique<Work>();
  *work = {.combine = how,
           .own_bytes = bytes,
           .own = static_cast<const std::byte*>(source),
           .target = static_cast<std::byte*>(target),
           .type = type,
           .reduction = reduction,
           .root = root,
           .comm = comm};
  if (group.depth == 0) return enqueue(std::move(work), stream);
  group.works.emplace_back(std::move(work), stream);
  return kOk;
}

// The sends and receives of a group are one work.
Work& exchange_of_group(Comm* comm, void* stream) {
  for (auto& [work, on] : group.works) {
    if (work->comm == comm && !work->combine && on == stream) return *work;
  }
  group.works.emplace_back(std::make_unique<Work>(), stream);
  group.works.back().first->comm = comm;
  return *group.works.back().first;
}

int open_shared(Comm& comm) {
  const int file = open(comm.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) return fail(kSystemError, "cannot make " + comm.path);
  void* const mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return fail(kSystemError, "cannot map " + comm.path);
  comm.shared = static_cast<Shared*>(mapped);
  int device = 0;
  if (const auto current = driver<int (*)(int*)>("cuCtxGetDevice")) current(&device);
  comm.shared->process[comm.rank] = getpid();
  comm.shared->device_and_one[comm.rank] = device + 1;
  for (int rank = 0; rank < comm.count; ++rank) {
    if (wait_until(comm, [&] { return comm.shared->device_and_one[rank] != 0; })) continue;
    unlink(comm.path.c_str());
    return fail(kRemoteError, "a rank is gone");
  }
  if (comm.shared->left.fetch_add(1) + 1 == comm.count) unlink(comm.path.c_str());
  for (int rank = 0; rank < comm.count; ++rank) {
    if (rank == comm.rank || comm.shared->device_and_one[rank] != device + 1) continue;
    return fail(kInvalidUsage, "Duplicate GPU detected : rank " + std::to_string(comm.rank) + " and rank " +
                                   std::to_string(rank) + " both on CUDA device " + std::to_string(device));
  }
  return kOk;
}

int make(Comm** out, std::string path, int rank, int count) {
  if (count > kRanksMax) return fail(kInvalidArgument, "the fake has room for 4 ranks");
  auto comm = std::make_unique<Comm>();
  comm->path = std::move(path);
  comm->rank = rank;
  comm->count = count;
  const int opened = open_shared(*comm);
  if (opened == kOk) *out = comm.release();
  return opened;
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default"))) int

FAKE ncclGetVersion(int* version) { return *version = kVersion, kOk; }
FAKE ncclGetUniqueId(Id* id) {
  static std::atomic<int> made = 0;
  std::memset(id, 0, sizeof(*id));
  std::snprintf(id->bytes, sizeof(id->bytes), "/dev/shm/fake_nccl.%d.%d", getpid(), made++);
  return kOk;
}
FAKE ncclCommInitRank(Comm** out, int count, Id id, int rank) {
  id.bytes[sizeof(id.bytes) - 1] = 0;
  if (std::strncmp(id.bytes, "/dev/shm/fake_nccl.", 19) != 0) return fail(kInvalidArgument, "the id is none");
  return make(out, id.bytes, rank, count);
}
FAKE ncclCommSplit(Comm* comm, int color, int key, Comm** out, void*) {
  const int said[2] = {color, key};
  std::vector<std::vector<std::byte>> all;
  if (!gather(*comm, reinterpret_cast<const std::byte*>(said), sizeof(said), all)) return kInternalError;
  const int number = comm->splits++;
  *out = nullptr;
  if (color < 0) return kOk;
  std::vector<std::pair<int, int>> members;  // (key, rank)
  for (int rank = 0; rank < comm->count; ++rank) {
    int words[2];
    std::memcpy(words, all[static_cast<size_t>(rank)].data(), sizeof(words));
    if (words[0] == color) members.emplace_back(words[1], rank);
  }
  std::sort(members.begin(), members.end());
  const auto own = std::find(members.begin(), members.end(), std::pair(key, comm->rank)) - members.begin();
  return make(out, comm->path + "." + std::to_string(number) + "." + std::to_string(color), static_cast<int>(own),
              static_cast<int>(members.size()));
}
FAKE ncclCommUserRank(Comm* comm, int* rank) { return *rank = comm->rank, kOk; }
FAKE ncclCommCount(Comm* comm, int* count) { return *count = comm->count, kOk; }
FAKE ncclCommGetAsyncError(Comm* comm, int* result) { return *result = comm->aborted ? kRemoteError : kOk, kOk; }
FAKE ncclCommAbort(Comm* comm) { return comm->aborted = true, kOk; }
FAKE ncclCommDestroy(Comm* comm) { return comm->aborted = true, kOk; }
FAKE ncclGroupStart() { return ++group.depth, kOk; }
FAKE ncclGroupEnd() {
  if (--group.depth > 0) return kOk;
  for (auto& [work, stream] : std::exchange(group.works, {})) {
    if (const int result = enqueue(std::move(work), stream)) return result;
  }
  return kOk;
}
FAKE ncclAllReduce(const void* from, void* to, size_t count, int type, int reduction, Comm* comm, void* stream) {
  return combine(reduce_all, from, to, count * bytes_of(type), type, reduction, -1, comm, stream);
}
FAKE ncclReduce(const void* from, void* to, size_t count, int type, int reduction, int root, Comm* comm, void* stream) {
  return combine(reduce_all, from, to, count * bytes_of(type), type, reduction, root, comm, stream);
}
FAKE ncclReduceScatter(const void* from, void* to, size_t count, int type, int reduction, Comm* comm, void* stream) {
  return combine(reduce_part, from, to, count * bytes_of(type) * static_cast<size_t>(comm->count), type, reduction, -1,
                 comm, stream);
}
FAKE ncclBroadcast(const void* from, void* to, size_t count, int type, int root, Comm* comm, void* stream) {
  return combine(take_root, from, to, comm->rank == root ? count * bytes_of(type) : 0, type, 0, root, comm, stream);
}
FAKE ncclAllGather(const void* from, void* to, size_t count, int type, Comm* comm, void* stream) {
  return combine(take_all, from, to, count * bytes_of(type), type, 0, -1, comm, stream);
}
FAKE ncclSend(const void* from, size_t count, int type, int peer, Comm* comm, void* stream) {
  if (group.depth == 0) return fail(kInvalidUsage, "the fake sends in groups only");
  if (count * bytes_of(type) > kBoxBytes) return fail(kInvalidArgument, "the fake has room for 1 MiB");
  exchange_of_group(comm, stream).sends.push_back({peer, static_cast<const std::byte*>(from), count * bytes_of(type)});
  return kOk;
}
FAKE ncclRecv(void* to, size_t count, int type, int peer, Comm* comm, void* stream) {
  if (group.depth == 0) return fail(kInvalidUsage, "the fake receives in groups only");
  exchange_of_group(comm, stream).receives.push_back({peer, static_cast<std::byte*>(to), count * bytes_of(type)});
  return kOk;
}
extern "C" __attribute__((visibility("default"))) const char* ncclGetErrorString(int result) {
  switch (result) {
    case kSystemError: return "unhandled system error";
    case kInvalidArgument: return "invalid argument";
    case kInvalidUsage: return "invalid usage";
    case kRemoteError: return "remote process exited or there was a network error";
    default: return "internal error";
  }
}
extern "C" __attribute__((visibility("default"))) const char* ncclGetLastError(Comm*) { return last_error.c_str(); }
