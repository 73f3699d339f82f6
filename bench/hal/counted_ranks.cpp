// The rows of bench/budgets.txt that begin with `ranks.`: instructions to execute a recording of one all-reduce that nobody
// waits for, with a CUDA driver and an NCCL that do nothing.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "bench/support/counted.hpp"
#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/drivers/cuda/driver.hpp"
#include "hal/drivers/cuda/nccl.hpp"
#include "hal/queue.hpp"
#include "hal/rank_meeting.hpp"
#include "hal/rank_store.hpp"
#include "hal/recording.hpp"
#include "tests/support/fake_cuda.hpp"

namespace baton::bench {
namespace {

namespace cuda = hal::drivers::cuda;

Ref<hal::Device> device;
Ref<hal::Recording> recording;

// The fake makes a line of each call, so what an execution calls is taken out.
std::shared_ptr<const cuda::Symbols> make_driver_that_does_nothing() {
  auto symbols = std::make_shared<cuda::Symbols>(*testing_support::make_fake_cuda());
  symbols->cuEventCreate = [](CUevent* event, unsigned) {
    return *event = reinterpret_cast<CUevent>(uintptr_t{1}), CUDA_SUCCESS;
  };
  symbols->cuEventDestroy = [](CUevent) { return CUDA_SUCCESS; };
  symbols->cuEventRecord = [](CUevent, CUstream) { return CUDA_SUCCESS; };
  symbols->cuEventQuery = [](CUevent) { return CUDA_SUCCESS; };
  symbols->cuGraphLaunch = [](CUgraphExec, CUstream) { return CUDA_SUCCESS; };
  return symbols;
}

std::shared_ptr<const cuda::Nccl> make_nccl_that_does_nothing(const cuda::Symbols& driver) {
  static const cuda::Symbols* symbols = nullptr;
  symbols = &driver;
  auto nccl = std::make_shared<cuda::Nccl>();
  nccl->ncclGetUniqueId = [](cuda::NcclId*) { return 0; };
  nccl->ncclCommInitRank = [](cuda::NcclComm* comm, int, cuda::NcclId, int) {
    return *comm = reinterpret_cast<cuda::NcclComm>(uintptr_t{1}), 0;
  };
  nccl->ncclCommGetAsyncError = [](cuda::NcclComm, int* result) { return *result = 0; };
  nccl->ncclCommAbort = [](cuda::NcclComm) { return 0; };
  nccl->ncclGroupStart = [] { return 0; };
  nccl->ncclGroupEnd = [] { return 0; };
  nccl->ncclSend = [](const void*, size_t, int, int, cuda::NcclComm, CUstream) { return 0; };
  nccl->ncclRecv = [](void*, size_t, int, int, cuda::NcclComm, CUstream) { return 0; };
  nccl->ncclAllGather = [](const void*, void*, size_t, int, cuda::NcclComm, CUstream) { return 0; };
  // A capture, which comes behind the two of ranks that meet, has to find something.
  nccl->ncclAllReduce = [](const void*, void* target, size_t, int, int, cuda::NcclComm, CUstream stream) {
    static int calls = 0;
    if (calls++ == 2) symbols->cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(target), 0, 1, stream);
    return 0;
  };
  nccl->ncclGetErrorString = [](int) { return "nothing"; };
  return nccl;
}

template <typename T>
T expect(Result<T> result) {
  if (result.has_value()) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().to_string().c_str());
  std::exit(1);
}

void make_recording(const char* mode) {
  const auto symbols = make_driver_that_does_nothing();
  const hal::DeviceParameter parameters[] = {{"cuda_mode", mode}};
  device = expect(
      cuda::make_driver({.symbols = symbols, .nccl = make_nccl_that_does_nothing(*symbols)})->open("", parameters));
  const auto store = hal::make_memory_store();
  const hal::ChannelRequest first = {"counted", 0, 2, store.get()}, second = {"counted", 1, 2, store.get()};
  std::thread other([&] {  // The other rank only says that it is there.
    hal::RankMeeting meeting(second);
    if (meeting.hear().has_value()) static_cast<void>(meeting.conclude({}).ok());
  });
  const auto channel = expect(device->make_channel(first));
  other.join();
  const auto memory = expect(device->allocator().allocate(
      {64, hal::MemoryKind::kDeviceLocal, hal::BufferUsage::kTransfer | hal::BufferUsage::kDispatch}));
  const auto commands = expect(device->make_command_buffer());
  static_cast<void>(
      commands
          ->collective(
              {.channel = channel.get(), .reduction = hal::Reduction::kSum, .source = memory, .target = memory})
          .ok());
  recording = expect(commands->finish());
  // As a thread of an app that works with the device: its context is current, which takes no call then.
  const int64_t context = expect(device->query("cuda", "context"));
  symbols->cuCtxPushCurrent(reinterpret_cast<CUcontext>(context));
}

void execute(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) static_cast<void>(device->queue().execute({}, *recording).ok());
}

constexpr CountedRow kRows[] = {
    {"all_reduce_stream", [] { make_recording("stream"); }, execute},
    {"all_reduce_graph", [] { make_recording("graph"); }, execute},
};

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) {
  const int code = baton::bench::run_counted(argc, argv, baton::bench::kRows);
  baton::bench::recording = nullptr;  // Before what the driver is made of.
  baton::bench::device = nullptr;
  return code;
}
