// What the CUDA benches share: contenders taken in turns, a device of ours, and the same work through the driver's own
// calls. What goes wrong ends the process with a sentence.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/drivers/cuda/device.hpp"
#include "hal/drivers/cuda/driver.hpp"
#include "hal/drivers/cuda/executable.hpp"
#include "hal/timeline_observer.hpp"
#include "tests/support/embedded_ptx.hpp"

namespace baton::hal::drivers::cuda {

inline constexpr uint32_t kWords = 1024;

template <typename T>
T expect(Result<T> result) {
  if (result.has_value()) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().to_string().c_str());
  std::exit(1);
}
inline void expect(Status status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  std::exit(1);
}
inline void expect(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", what, static_cast<int>(result));
  std::exit(1);
}

double now_us();
double median(std::vector<double> samples);

// Something to call; nothing when it was made from nothing.
class Step {
 public:
  Step() = default;
  template <typename Function>
  Step(Function function) : held_(std::make_shared<Held<Function>>(std::move(function))) {}  // NOLINT: it is one
  void operator()() const {
    if (held_) held_->run();
  }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual void run() = 0;
  };
  template <typename Function>
  struct Held final : Base {
    explicit Held(Function of) : function(std::move(of)) {}
    void run() override { function(); }
    Function function;
  };
  std::shared_ptr<Base> held_;
};

// A contender: what is timed, how many units one call is, what happens untimed after it.
struct Contender {
  Step run;
  double units = 1;
  Step after = {};
};

// Contenders are taken in turns, so that a change of clock speed hits all.
std::vector<double> time_all(const std::vector<Contender>& contenders, int rounds);

void print_row(const char* what, double raw, double ours, const char* reach);

struct Bench {
  // With `timeline` the device tells it what it does, and the driver when commands ran.
  explicit Bench(std::string_view mode, std::string_view streams = "1", std::string_view report = "0",
                 Timeline* timeline = nullptr) {
    const DeviceParameter parameters[] = {
        {"cuda_mode", mode}, {"cuda_streams", streams}, {"cuda_graph_report", report}};
    Options options;
    options.timeline = timeline;
    device = expect(make_driver(std::move(options))->open("", parameters));
    if (timeline) device = hal::observe(std::move(device), *timeline);
    const EntryPoint expected[] = {
        {.name = "scale", .constant_count = 2, .binding_count = 1, .workgroup_size = {64, 1, 1}}};
    const ExecutableVariant variant{"cuda-ptx", std::as_bytes(std::span(testing_support::conformance_ptx()))};
    executable = expect(device->make_executable({.name = "bench", .variants = {&variant, 1}, .expected = expected}));
    a = make_buffer();
    b = make_buffer();
    done = expect(device->make_semaphore(0));
  }

  Ref<hal::Buffer> make_buffer() {
    auto buffer = expect(device->allocator().allocate({.length = kWords * 4}));
    expect(device->queue().fill_buffer({}, {.target = buffer, .pattern = 3}));
    expect(device->queue().wait_idle());
    return buffer;
  }

  // `slots` of the dispatches are named by a slot each of their own, the others work on `a`.
  Ref<hal::Recording> record(uint32_t dispatches, uint32_t slots = 0, bool barriers = true, bool validate = true) {
    auto commands = expect(device->make_command_buffer({.name = "bench", .slot_count = slots, .validate = validate}));
    const uint32_t constants[] = {kWords, 1};
    for (uint32_t i = 0; i < dispatches; ++i) {
      const Binding bindings[] = {i < slots ? Binding(Slot{i}, 0, kWords * 4) : Binding(a)};
      expect(commands->dispatch({.executable = executable.get(),
                                 .entry_point = 0,
                                 .grid = {16, 1, 1},
                                 .constants = constants,
                                 .bindings = bindings}));
      if (barriers) expect(commands->barrier({}));
    }
    return expect(commands->finish());
  }
  void execute(hal::Recording& recording, const BindingTable& table = {}) {
    expect(device->queue().execute({}, recording, table));
  }
  void execute_signalling(hal::Recording& recording, const BindingTable& table = {}) {
    const SemaphorePoint signal(done, ++point);
    expect(device->queue().execute({{}, {&signal, 1}}, recording, table));
  }
  void idle() { expect(device->queue().wait_idle()); }

  Device& cuda() { return static_cast<Device&>(*device); }
  const Kernel& kernel() { return static_cast<Executable&>(*executable).kernel(0); }
  CUdeviceptr address(const Ref<hal::Buffer>& buffer) { return static_cast<Buffer&>(*buffer).address(); }

  Ref<hal::Device> device;
  Ref<hal::Executable> executable;
  Ref<hal::Buffer> a, b;
  Ref<hal::Semaphore> done;
  uint64_t point = 0;
};

// The same work through the driver's own calls.
struct Raw {
  explicit Raw(Bench& bench)
      : cu(bench.cuda().context().symbols()), context(bench.cuda().context().handle()), kernel(bench.kernel().handle) {
    expect(cu.cuCtxPushCurrent(context), "push");
    expect(cu.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), "stream");
    expect(cu.cuStreamCreateWithPriority(&other, CU_STREAM_NON_BLOCKING, 0), "stream");
    expect(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "event");
    for (CUevent& one : events) expect(cu.cuEventCreate(&one, CU_EVENT_DISABLE_TIMING), "event");
    address = bench.address(bench.a);
    second = bench.address(bench.b);
  }
  ~Raw() {
    CUcontext popped;
    cu.cuCtxPopCurrent(&popped);
  }

  void launch() {
    expect(cu.cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 16, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr),
           "launch");
  }
  void sync() { expect(cu.cuStreamSynchronize(stream), "sync"); }

  CUDA_KERNEL_NODE_PARAMS node_parameters() {
    CUDA_KERNEL_NODE_PARAMS p = {};
    p.kern = kernel;
    p.ctx = context;
    p.gridDimX = 16, p.gridDimY = 1, p.gridDimZ = 1;
    p.blockDimX = 64, p.blockDimY = 1, p.blockDimZ = 1;
    p.kernelParams = parameters;
    return p;
  }
  CUDA_KERNEL_NODE_PARAMS node_parameters_in_block() {
    CUDA_KERNEL_NODE_PARAMS p = node_parameters();
    p.kernelParams = nullptr;
    p.extra = extra;
    return p;
  }
  // For work whose ends are all to be told apart.
  CUevent next_event() { return events[next++ % std::size(events)]; }
  CUgraphNode add(CUgraph graph, const std::vector<CUgraphNode>& after) {
    const CUDA_KERNEL_NODE_PARAMS p = node_parameters();
    CUgraphNode node;
    expect(cu.cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &p), "node");
    return node;
  }
  CUgraph chain(uint32_t count, std::vector<CUgraphNode>* nodes = nullptr) {
    CUgraph graph;
    expect(cu.cuGraphCreate(&graph, 0), "graph");
    std::vector<CUgraphNode> tail;
    for (uint32_t i = 0; i < count; ++i) {
      tail = {add(graph, tail)};
      if (nodes) nodes->push_back(tail[0]);
    }
    return graph;
  }
  // `ends`: with a kernel as root and join, or with empty nodes.
  CUgraph lanes(uint32_t count, uint32_t lane_count, bool kernel_ends) {
    CUgraph graph;
    expect(cu.cuGraphCreate(&graph, 0), "graph");
    const auto end = [&](const std::vector<CUgraphNode>& after) {
      if (kernel_ends) return add(graph, after);
      CUgraphNode node;
      expect(cu.cuGraphAddEmptyNode(&node, graph, after.data(), after.size()), "empty");
      return node;
    };
    std::vector<CUgraphNode> tails(lane_count, end({}));
    for (uint32_t i = 0; i < count; ++i) tails[i % lane_count] = add(graph, {tails[i % lane_count]});
    end(tails);
    return graph;
  }
  CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec instance;
    expect(cu.cuGraphInstantiateWithFlags(&instance, graph, 0), "instantiate");
    expect(cu.cuGraphUpload(instance, stream), "upload");
    sync();
    return instance;
  }
  void launch(CUgraphExec instance) { expect(cu.cuGraphLaunch(instance, stream), "graph launch"); }

  const Symbols& cu;
  CUcontext context;
  CUkernel kernel;
  CUstream stream, other;
  CUevent event;
  CUevent events[32];
  size_t next = 0;
  CUdeviceptr address, second;
  uint32_t words = kWords, factor = 1;
  void* parameters[3] = {&address, &words, &factor};
  // The same in one block, as the kernel has them.
  uint32_t block[4] = {0, 0, kWords, 1};
  size_t block_bytes = sizeof(block);
  void* extra[5] = {CU_LAUNCH_PARAM_BUFFER_POINTER, block, CU_LAUNCH_PARAM_BUFFER_SIZE, &block_bytes,
                    CU_LAUNCH_PARAM_END};
};

// Whether the kernel works, before anything is timed.
void check_answer(Bench& bench);

// cuda_tracing.cpp. The last one: CUPTI listens from there on.
void bench_tracing();

}  // namespace baton::hal::drivers::cuda
