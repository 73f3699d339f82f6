// Question: what does an all-reduce cost in a recording, beside ncclAllReduce itself? Method: that of nccl-tests: a
// thread for each GPU, some rounds to get warm, then many that are enqueued one after the other and waited for once;
// contenders take turns in one process, and the median of the turns counts. In place, f32.
//
//   collectives_bench [GPUs, 2] [largest size in MiB, 1024] [seconds, 600]
//
// A row: the size; microseconds an all-reduce of raw NCCL, of ours on a stream, of ours as a graph, and of NCCL's call
// captured into a graph without us; the ratios raw / ours, and raw graph / our graph; the host's microseconds to enqueue one,
// of all four. A second row holds graphs of twenty, one after the other, as nccl-tests captures its rounds (-G), beside twenty
// calls of raw NCCL. After so many seconds no further row begins.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/drivers/cuda/buffer.hpp"
#include "hal/drivers/cuda/context_scope.hpp"
#include "hal/drivers/cuda/device.hpp"
#include "hal/drivers/cuda/driver.hpp"
#include "hal/drivers/cuda/nccl.hpp"
#include "hal/rank_store.hpp"

namespace baton::hal::drivers::cuda {
namespace {

constexpr int kTurns = 5, kWarm = 5;
constexpr BufferUsage kCollective = BufferUsage::kTransfer | BufferUsage::kDispatch;

template <typename T>
T expect(Result<T> result) {
  if (result.has_value()) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().to_string().c_str());
  std::exit(1);
}
void expect(Status status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  std::exit(1);
}

void expect(CUresult result) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "The driver failed with %d.\n", static_cast<int>(result));
  std::exit(1);
}

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Time {
  double round_us = 0;
  double host_us = 0;
};

Time median(std::vector<Time> turns) {
  const auto middle = turns.begin() + static_cast<ptrdiff_t>(turns.size() / 2);
  std::nth_element(turns.begin(), middle, turns.end(),
                   [](const Time& a, const Time& b) { return a.round_us < b.round_us; });
  return *middle;
}

// What all ranks share: they begin each turn together.
struct Group {
  explicit Group(uint32_t count) : rank_count(count), together(count), store(make_memory_store()) {}
  uint32_t rank_count;
  std::barrier<> together;
  bool goes_on = true;  // Rank 0 says so, before the others come together with it.
  std::shared_ptr<RankStore> store;
  NcclId raw_id = {};
};

// `enqueue` once a round, which begins `each` all-reduces, and `wait` at the end. Times are those of one all-reduce.
template <typename Enqueue, typename Wait>
Time turn_of(Group& group, int rounds, int each, const Enqueue& enqueue, const Wait& wait) {
  for (int i = 0; i < kWarm; ++i) enqueue();
  wait();
  group.together.arrive_and_wait();
  const double begin = now_us();
  for (int i = 0; i < rounds; ++i) enqueue();
  const double enqueued = now_us();
  wait();
  const double count = rounds * each;
  return {(now_us() - begin) / count, (enqueued - begin) / count};
}

// One way to do it through Baton: a device in one mode.
class Ours {
 public:
  Ours(Group& group, uint32_t rank, const char* mode) {
    const DeviceParameter parameters[] = {{"cuda_mode", mode}};
    device_ = expect(make_driver()->open(text(rank), parameters));
    channel_ = expect(device_->make_channel({mode, rank, group.rank_count, group.store.get()}));
  }

  Time measure(Group& group, uint64_t bytes, int rounds, int each) {
    const auto memory = expect(device_->allocator().allocate({bytes, MemoryKind::kDeviceLocal, kCollective}));
    const auto commands = expect(device_->make_command_buffer());
    for (int i = 0; i < each; ++i) {
      if (i > 0) expect(commands->barrier({}));
      expect(commands->collective(
          {.channel = channel_.get(), .reduction = Reduction::kSum, .source = memory, .target = memory}));
    }
    const auto recording = expect(commands->finish());
    hal::Queue& queue = device_->queue();
    return turn_of(
        group, rounds, each, [&] { expect(queue.execute({}, *recording)); }, [&] { expect(queue.wait_idle(-1)); });
  }

  hal::Allocator& allocator() { return device_->allocator(); }
  PrimaryContext& context() { return static_cast<Device&>(*device_).context(); }

 private:
  Ref<hal::Device> device_;
  Ref<Channel> channel_;
};

class Raw {
 public:
  Raw(Group& group, uint32_t rank, PrimaryContext& context, hal::Allocator& allocator)
      : allocator_(allocator), nccl_(expect(load_nccl())), cuda_(context.symbols()), scope_(cuda_, context.handle()) {
    expect(nccl_->status_of(
        nccl_->ncclCommInitRank(&comm_, static_cast<int>(group.rank_count), group.raw_id, static_cast<int>(rank)),
        "ncclCommInitRank"));
    cuda_.cuStreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, 0);
  }
  ~Raw() { nccl_->ncclCommAbort(comm_); }

  Time measure(Group& group, uint64_t bytes, int rounds, int each, bool as_graph) {
    constexpr int kFloat32 = 7, kSum = 0;
    const auto memory = expect(allocator_.allocate({bytes, MemoryKind::kDeviceLocal, kCollective}));
    auto* at = reinterpret_cast<void*>(static_cast<Buffer&>(*memory).address());
    const auto enqueue = [&] {
      expect(
          nccl_->status_of(nccl_->ncclAllReduce(at, at, bytes / 4, kFloat32, kSum, comm_, stream_), "ncclAllReduce"));
    };
    const auto wait = [&] { expect(cuda_.cuStreamSynchronize(stream_)); };
    enqueue();  // What a capture forbids is done by the first one.
    wait();
    if (!as_graph) return turn_of(group, rounds * each, 1, enqueue, wait);
    CUgraph graph = nullptr, captured = nullptr;
    CUgraphExec instance = nullptr;
    expect(cuda_.cuGraphCreate(&graph, 0));
    expect(cuda_.cuStreamBeginCaptureToGraph(stream_, graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < each; ++i) enqueue();
    expect(cuda_.cuStreamEndCapture(stream_, &captured));
    expect(cuda_.cuGraphInstantiateWithFlags(&instance, graph, 0));
    expect(cuda_.cuGraphUpload(instance, stream_));
    const Time time = turn_of(
        group, rounds, each, [&] { expect(cuda_.cuGraphLaunch(instance, stream_)); }, wait);
    cuda_.cuGraphExecDestroy(instance);
    cuda_.cuGraphDestroy(graph);
    return time;
  }

 private:
  hal::Allocator& allocator_;
  std::shared_ptr<const Nccl> nccl_;
  const Symbols& cuda_;
  ContextScope scope_;
  NcclComm comm_ = nullptr;
  CUstream stream_ = nullptr;
};

// Each way's time of an all-reduce, where a recording or a graph holds `each` of them.
void measure_row(Group& group, uint32_t rank, Ours& stream, Ours& graph, Raw& raw, uint64_t bytes, int rounds,
                 int each) {
  std::vector<Time> raws, streams, graphs, raw_graphs;
  for (int i = 0; i < kTurns; ++i) {
    raws.push_back(raw.measure(group, bytes, rounds, each, false));
    streams.push_back(stream.measure(group, bytes, rounds, each));
    graphs.push_back(graph.measure(group, bytes, rounds, each));
    raw_graphs.push_back(raw.measure(group, bytes, rounds, each, true));
  }
  if (rank != 0) return;
  const Time a = median(raws), b = median(streams), c = median(graphs), d = median(raw_graphs);
  std::printf("%10llu x%2d  %9.2f %9.2f %9.2f %9.2f   %5.3f %5.3f %5.3f   %7.2f %7.2f %7.2f %9.2f\n",
              static_cast<unsigned long long>(bytes), each, a.round_us, b.round_us, c.round_us, d.round_us,
              a.round_us / b.round_us, a.round_us / c.round_us, d.round_us / c.round_us, a.host_us, b.host_us,
              c.host_us, d.host_us);
  std::fflush(stdout);
}

void run_rank(Group& group, uint32_t rank, uint64_t bytes_max, double end_us) {
  constexpr int kManyInARecording = 20;
  Ours stream(group, rank, "stream"), graph(group, rank, "graph");
  Raw raw(group, rank, stream.context(), stream.allocator());
  for (uint64_t bytes = 1024; bytes <= bytes_max; bytes *= 4) {
    if (rank == 0) group.goes_on = now_us() < end_us;
    group.together.arrive_and_wait();
    if (!group.goes_on) break;
    const int rounds = bytes <= (uint64_t{1} << 20) ? 500 : bytes <= (uint64_t{64} << 20) ? 50 : 10;
    measure_row(group, rank, stream, graph, raw, bytes, rounds, 1);
    if (rounds > 10) measure_row(group, rank, stream, graph, raw, bytes, rounds / 10, kManyInARecording);
  }
}

int run(uint32_t count, uint64_t bytes_max, double seconds) {
  const auto devices = make_driver()->list();
  if (!devices.has_value() || devices->size() < count) {
    std::printf("skipped: there are no %u CUDA devices\n", count);
    return 0;
  }
  const auto nccl = load_nccl();
  if (!nccl.has_value()) {
    std::printf("skipped: %s\n", nccl.error().to_string().c_str());
    return 0;
  }
  Group group(count);
  expect((*nccl)->status_of((*nccl)->ncclGetUniqueId(&group.raw_id), "ncclGetUniqueId"));
  int version = 0;
  (*nccl)->ncclGetVersion(&version);
  std::printf("all-reduce of %u GPUs, NCCL %d, us a round\n", count, version);
  std::printf("%10s      %9s %9s %9s %9s   %5s %5s %5s   %7s %7s %7s %9s\n", "bytes", "raw", "stream", "graph",
              "raw graph", "r/s", "r/g", "rg/g", "raw", "stream", "graph", "raw graph");
  const double end_us = now_us() + seconds * 1e6;
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < count; ++rank) {
    threads.emplace_back(run_rank, std::ref(group), rank, bytes_max, end_us);
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

}  // namespace
}  // namespace baton::hal::drivers::cuda

int main(int argc, char** argv) {
  const uint32_t count = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 2;
  const uint64_t mebibytes = argc > 2 ? static_cast<uint64_t>(std::atoll(argv[2])) : 1024;
  const double seconds = argc > 3 ? std::atof(argv[3]) : 600;
  return baton::hal::drivers::cuda::run(std::max(count, 2u), mebibytes << 20, seconds);
}
