// What the CUDA driver of the HAL costs beside the raw driver calls, in one process, taken in turns: the CUDA rows of
// DESIGN.md section 10. Medians; microseconds of the caller's time unless a row says "done".
//
//   cuda_bench [--only=tracing]
//
// The kernel scales 1024 words by one in 16 workgroups of 64 threads. Its answer is checked before anything is timed.
#include <dlfcn.h>

#include <cstdio>

#include "bench/hal/cuda_fixture.hpp"
#include "hal/drivers/cuda/foreign_extensions.hpp"
#include "hal/drivers/cuda/graph.hpp"
#include "hal/slot_table.hpp"

namespace baton::hal::drivers::cuda {
namespace {

void bench_stream() {
  Bench bench("stream");
  check_answer(bench);
  Raw raw(bench);
  const auto one = bench.record(1);
  const auto hundred = bench.record(100);
  const auto slotted = bench.record(100, 100);
  std::vector<BufferRange> table(100, BufferRange(bench.a));
  const auto idle = [&] { bench.idle(); };
  const auto sync = [&] { raw.sync(); };
  const auto times = time_all({{[&] {
                                  for (int i = 0; i < 100; ++i) raw.launch();
                                },
                                100, sync},
                               {[&] {
                                  for (int i = 0; i < 100; ++i) bench.execute(*one);
                                },
                                100, idle},
                               {[&] { bench.execute(*hundred); }, 100, idle},
                               {[&] { bench.execute(*slotted, {.buffers = table}); }, 100, idle}},
                              60);
  print_row("stream: issue one dispatch, an execution each", times[0], times[1], "1.05");
  print_row("stream: issue one dispatch, 100 in an execution", times[0], times[2], "1.05");
  print_row("stream: the same through 100 slots", times[0], times[3], "1.05");
  const auto trips = time_all({{[&] {
                                 raw.launch();
                                 raw.sync();
                               }},
                               {[&] {
                                 bench.execute_signalling(*one);
                                 expect(bench.done->wait(bench.point));
                               }}},
                              200);
  print_row("stream: one dispatch, done and heard of", trips[0], trips[1], "-");
}

void bench_graph_execute() {
  Bench bench("graph");
  check_answer(bench);
  Raw raw(bench);
  for (const uint32_t count : {1u, 10u, 100u, 1000u}) {
    const CUgraphExec instance = raw.instantiate(raw.chain(count));
    const auto recording = bench.record(count);
    bench.execute(*recording);
    bench.idle();
    const int batch = count >= 100 ? 4 : 20;
    const auto many = [&](auto one) {
      return [=] {
        for (int i = 0; i < batch; ++i) one();
      };
    };
    const auto sync = [&] { raw.sync(); };
    const auto idle = [&] { bench.idle(); };
    // Raw and ours by turns, round and round: whoever comes behind its own kind finds its graph in the caches, which is
    // a fifth of the time with 100 nodes.
    const auto times = time_all({{many([&] { raw.launch(instance); }), double(batch), sync},
                                 {many([&] { bench.execute(*recording); }), double(batch), idle},
                                 {many([&] {
                                    raw.launch(instance);
                                    expect(raw.cu.cuEventRecord(raw.event, raw.stream), "record");
                                  }),
                                  double(batch), sync},
                                 {many([&] { bench.execute_signalling(*recording); }), double(batch), idle},
                                 {many([&] {
                                    raw.launch(instance);
                                    expect(raw.cu.cuEventRecord(raw.next_event(), raw.stream), "record");
                                  }),
                                  double(batch), sync},
                                 {many([&] { bench.execute(*recording); }), double(batch), idle}},
                                60);
    char what[80];
    std::snprintf(what, sizeof(what), "graph: execute %u nodes, issue", count);
    print_row(what, times[0], times[1], "1.15");
    std::snprintf(what, sizeof(what), "graph: execute %u nodes + signal (raw: + event record)", count);
    print_row(what, times[2], times[3], "1.15");
    std::printf("|   raw, with an event of its own for each: %.3f us\n", times[4]);
    const auto trips = time_all({{[&] {
                                   raw.launch(instance);
                                   raw.sync();
                                 }},
                                 {[&] {
                                   bench.execute_signalling(*recording);
                                   expect(bench.done->wait(bench.point));
                                 }}},
                                60);
    std::snprintf(what, sizeof(what), "graph: execute %u nodes, done", count);
    print_row(what, trips[0], trips[1], "-");
  }
}

// `slots` of 1000 nodes are named by slots, each with a buffer of its own; `changed` of them change each time.
void bench_patch_of(Bench& bench, Raw& raw, uint32_t slots, const std::vector<uint32_t>& changes) {
  constexpr uint32_t kNodes = 1000;
  std::vector<CUgraphNode> nodes;
  const CUgraphExec instance = raw.instantiate(raw.chain(kNodes, &nodes));
  const auto recording = bench.record(kNodes, slots);
  std::vector<Ref<hal::Buffer>> ours, others;
  for (uint32_t i = 0; i < slots; ++i) {
    ours.push_back(bench.make_buffer());
    others.push_back(bench.make_buffer());
  }
  std::vector<BufferRange> table(ours.begin(), ours.end());
  SlotTable kept(slots);
  for (uint32_t i = 0; i < slots; ++i) kept.set(i, table[i]);
  const auto kept_recording = bench.record(kNodes, slots);
  bool kept_flip = false;
  const auto set_kept = [&](uint32_t count) {
    kept_flip = !kept_flip;
    for (uint32_t i = 0; i < count; ++i) kept.set(i, kept_flip ? others[i] : ours[i]);
  };
  bench.execute(*kept_recording, kept.table());
  bench.execute(*recording, {.buffers = table});
  bench.idle();
  const auto sync = [&] { raw.sync(); };
  char what[80];
  for (const uint32_t count : changes) {
    // A new address each time, as a new table has; the driver takes parameters one by one, or in one block.
    const auto raw_patch_with = [&](const CUDA_KERNEL_NODE_PARAMS& p) {
      std::swap(raw.address, raw.second);
      std::memcpy(raw.block, &raw.address, sizeof(raw.address));
      for (uint32_t i = 0; i < count; ++i) expect(raw.cu.cuGraphExecKernelNodeSetParams(instance, nodes[i], &p), "set");
    };
    const auto raw_patch = [&] { raw_patch_with(raw.node_parameters()); };
    const auto raw_patch_block = [&] { raw_patch_with(raw.node_parameters_in_block()); };
    bool flip = false;
    const auto idle_and_change = [&] {
      bench.idle();
      flip = !flip;
      for (uint32_t i = 0; i < count; ++i) table[i] = BufferRange(flip ? others[i] : ours[i]);
    };
    idle_and_change();
    const auto times = time_all({{[&] {
                                    raw_patch();
                                    raw.launch(instance);
                                  },
                                  1, sync},
                                 {[&] { bench.execute(*recording, {.buffers = table}); }, 1, idle_and_change},
                                 {[&] { raw.launch(instance); }, 1, sync},
                                 {[&] {
                                    raw_patch_block();
                                    raw.launch(instance);
                                  },
                                  1, sync},
                                 {[&] {
                                    set_kept(count);
                                    bench.execute(*kept_recording, kept.table());
                                  },
                                  1, [&] { bench.idle(); }}},
                                40);
    std::snprintf(what, sizeof(what), "graph: re-bind %u of 1000 nodes and launch, %u slots", count, slots);
    print_row(what, times[0], times[1], "1.3");
    std::snprintf(what, sizeof(what), "graph: the same from a SlotTable, set and launch");
    print_row(what, times[0], times[4], "1.3");
    std::printf("|   a patched node: raw %.3f us, with parameters in a block %.3f us, ours %.3f us\n",
                (times[0] - times[2]) / count, (times[3] - times[2]) / count, (times[1] - times[2]) / count);
  }
  const auto unchanged = time_all({{[&] { raw.launch(instance); }, 1, sync},
                                   {[&] { bench.execute(*recording, {.buffers = table}); }, 1, [&] { bench.idle(); }},
                                   {[&] { bench.execute(*kept_recording, kept.table()); }, 1, [&] { bench.idle(); }}},
                                  60);
  std::snprintf(what, sizeof(what), "graph: %u slots, none changed, launch", slots);
  print_row(what, unchanged[0], unchanged[1], "-");
  print_row("graph: the same from a SlotTable", unchanged[0], unchanged[2], "-");
}

void bench_patch() {
  Bench bench("graph");
  Raw raw(bench);
  bench_patch_of(bench, raw, 16, {1, 10});
  bench_patch_of(bench, raw, 1000, {1, 10, 100, 1000});
}

void bench_build() {
  Bench bench("graph", "1", "1");
  Raw raw(bench);
  constexpr uint32_t kNodes = 1000;
  CUgraph graph = nullptr, block_graph = nullptr;
  const auto raw_block_chain = [&] {
    expect(raw.cu.cuGraphCreate(&block_graph, 0), "graph");
    const CUDA_KERNEL_NODE_PARAMS p = raw.node_parameters_in_block();
    CUgraphNode tail = nullptr;
    for (uint32_t i = 0; i < kNodes; ++i) {
      CUgraphNode node;
      expect(raw.cu.cuGraphAddKernelNode(&node, block_graph, &tail, tail ? 1 : 0, &p), "node");
      tail = node;
    }
  };
  std::vector<double> builds, instantiations;
  Ref<hal::Recording> recording;
  const auto drop = [&] {
    bench.idle();
    const GraphReport report = static_cast<Recording&>(*recording).graph().report();
    builds.push_back(static_cast<double>(report.build_ns) / 1000 / kNodes);
    instantiations.push_back(static_cast<double>(report.instantiate_ns) / 1000);
    recording = nullptr;  // Here: dropping a graph of 1000 nodes is not recording one.
  };
  const auto execute = [&] { bench.execute(*recording); };
  const auto times = time_all({{[&] { graph = raw.chain(kNodes); }, kNodes, [&] { raw.cu.cuGraphDestroy(graph); }},
                               {[&] { recording = bench.record(kNodes, 0, true, false); }, kNodes,
                                [&] {
                                  execute();
                                  drop();
                                }},
                               {[&] { recording = bench.record(kNodes, 0, true, true); }, kNodes,
                                [&] {
                                  execute();
                                  drop();
                                }},
                               {raw_block_chain, kNodes, [&] { raw.cu.cuGraphDestroy(block_graph); }}},
                              12);
  std::printf("|   raw, with parameters in a block: %.3f us\n", times[3]);
  print_row("graph: record (unchecked) and add a node", times[0], times[1] + median(builds), "1.2");
  print_row("graph: record (validated) and add a node", times[0], times[2] + median(builds), "1.2");
  std::printf("|   ours: record %.3f us, validated %.3f us, add %.3f us a node; instantiate %.0f us\n", times[1],
              times[2], median(builds), median(instantiations));
}

void bench_independent() {
  Bench bench("graph");
  Raw raw(bench);
  const CUgraphExec kernel_ends = raw.instantiate(raw.lanes(1024, 8, true));
  const CUgraphExec empty_ends = raw.instantiate(raw.lanes(1024, 8, false));
  const CUgraphExec chain = raw.instantiate(raw.chain(1024));
  const auto recording = bench.record(1024, 0, false);
  bench.execute(*recording);
  bench.idle();
  const auto done = [&](CUgraphExec instance) {
    return [&raw, instance] {
      raw.launch(instance);
      raw.sync();
    };
  };
  const auto times = time_all({{done(kernel_ends)}, {done(empty_ends)}, {done(chain)}, {[&] {
                                 bench.execute_signalling(*recording);
                                 expect(bench.done->wait(bench.point));
                               }}},
                              60);
  print_row("graph: 1024 independent dispatches, done", times[0], times[3], "1.1");
  std::printf("|   raw: 8 lanes between kernels %.1f us, between empty nodes %.1f us, chain %.1f us\n", times[0],
              times[1], times[2]);
  const auto issue = [&](CUgraphExec instance) { return [&raw, instance] { raw.launch(instance); }; };
  const auto sync = [&] { raw.sync(); };
  const auto issues = time_all({{issue(kernel_ends), 1, sync},
                                {issue(empty_ends), 1, sync},
                                {[&] { bench.execute(*recording); }, 1, [&] { bench.idle(); }}},
                               60);
  std::printf("|   issue: between kernels %.2f us, between empty nodes %.2f us, ours %.2f us\n", issues[0], issues[1],
              issues[2]);
}

void bench_guard() {
  Bench bench("graph");
  Raw raw(bench);
  const auto function = make_foreign_function("bench", [&](const ForeignArguments& arguments) -> Status {
    StreamV1 out{.struct_size = sizeof(StreamV1)};
    BATON_TRY(arguments.scope.extension("cuda.stream.v1", &out));
    expect(raw.cu.cuLaunchKernel(reinterpret_cast<CUfunction>(raw.kernel), 16, 1, 1, 64, 1, 1, 0,
                                 static_cast<CUstream>(out.stream), raw.parameters, nullptr),
           "launch");
    return {};
  });
  const auto raw_capture = [&] {
    CUgraph graph, ended;
    expect(raw.cu.cuGraphCreate(&graph, 0), "graph");
    expect(
        raw.cu.cuStreamBeginCaptureToGraph(raw.stream, graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        "begin");
    raw.launch();
    expect(raw.cu.cuStreamEndCapture(raw.stream, &ended), "end");
    raw.cu.cuGraphDestroy(graph);
  };
  const auto raw_query = [&] {
    CUstreamCaptureStatus state;
    for (int i = 0; i < 100; ++i) raw.cu.cuStreamCaptureState(raw.stream, &state, nullptr, nullptr, nullptr, nullptr);
  };
  const auto ours = [&] { expect(bench.cuda().capture().run({*bench.device, *function, {}, {}})); };
  const auto times = time_all({{raw_capture}, {ours}, {raw_query, 100}}, 200);
  print_row("capture: one foreign launch, guarded", times[0], times[1], "+0.050");
  std::printf("|   guard: %.3f us on top; one query of the capture state %.3f us\n", times[1] - times[0], times[2]);

  const Binding bindings[] = {Slot{0}};
  auto commands = expect(bench.device->make_command_buffer({.name = "foreign", .slot_count = 1}));
  expect(commands->foreign({.function = function.get(), .bindings = bindings}));
  const auto recording = expect(commands->finish());
  bool flip = false;
  const auto execute = [&] {
    flip = !flip;
    const BufferRange table[] = {BufferRange(flip ? bench.a : bench.b)};
    bench.execute(*recording, {.buffers = table});
  };
  const auto swap = time_all({{execute, 1, [&] { bench.idle(); }}}, 100);
  std::printf("|   foreign segment exchanged from the cache and launched: %.3f us\n", swap[0]);
}

void bench_memory() {
  Bench bench("graph");
  Raw raw(bench);
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemoryPool pool;
  expect(raw.cu.cuMemPoolCreate(&pool, &properties), "pool");
  cuuint64_t keep = ~cuuint64_t{0};
  expect(raw.cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep), "threshold");
  for (const uint64_t bytes : {uint64_t{4096}, uint64_t{1} << 20, uint64_t{64} << 20}) {
    const auto raw_pair = [&] {
      for (int i = 0; i < 100; ++i) {
        CUdeviceptr address;
        expect(raw.cu.cuMemAllocFromPoolAsync(&address, bytes, pool, raw.stream), "alloc");
        expect(raw.cu.cuMemFreeAsync(address, raw.stream), "free");
      }
    };
    const auto our_pair = [&] {
      for (int i = 0; i < 100; ++i) {
        const hal::MemoryOwner owner(1);  // As a program's context is.
        const auto buffer = expect(bench.device->queue().allocate(
            {}, {.length = bytes, .memory = MemoryKind::kDeviceLocal, .usage = BufferUsage::kDispatch}));
        expect(bench.device->queue().free({}, *buffer));
      }
    };
    const auto times = time_all({{raw_pair, 100, [&] { raw.sync(); }}, {our_pair, 100}}, 60);
    char what[80];
    std::snprintf(what, sizeof(what), "memory: queue allocate + free, %llu KiB",
                  static_cast<unsigned long long>(bytes >> 10));
    print_row(what, times[0], times[1], "0.3 us");
  }
}

void bench_semaphores() {
  Bench bench("stream", "2");
  Raw raw(bench);
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  const auto write_value =
      reinterpret_cast<decltype(&::cuStreamWriteValue64)>(dlsym(library, "cuStreamWriteValue64_v2"));
  const auto wait_value = reinterpret_cast<decltype(&::cuStreamWaitValue64)>(dlsym(library, "cuStreamWaitValue64_v2"));
  void* word;
  expect(raw.cu.cuMemHostAlloc(&word, 8, CU_MEMHOSTALLOC_DEVICEMAP), "word");
  CUdeviceptr word_address;
  expect(raw.cu.cuMemHostGetDevicePointer(&word_address, word, 0), "word");
  uint64_t value = 0;
  const auto sync = [&] {
    raw.sync();
    raw.cu.cuStreamSynchronize(raw.other);
  };
  const auto events = [&] {
    expect(raw.cu.cuEventRecord(raw.event, raw.stream), "record");
    expect(raw.cu.cuStreamWaitEvent(raw.other, raw.event, 0), "wait");
  };
  const auto values = [&] {
    expect(write_value(raw.stream, word_address, ++value, 0), "write");
    expect(wait_value(raw.other, word_address, value, CU_STREAM_WAIT_VALUE_GEQ), "wait");
  };
  const auto first = bench.record(1);
  const auto launch_pair = [&] {
    raw.launch();
    events();
    expect(raw.cu.cuLaunchKernel(reinterpret_cast<CUfunction>(raw.kernel), 16, 1, 1, 64, 1, 1, 0, raw.other,
                                 raw.parameters, nullptr),
           "launch");
    expect(raw.cu.cuEventRecord(raw.event, raw.other), "record");
  };
  const auto our_pair = [&] {
    bench.execute_signalling(*first);
    const SemaphorePoint wait(bench.done, bench.point), signal(bench.done, bench.point + 1);
    ++bench.point;
    expect(bench.device->queue().execute({{&wait, 1}, {&signal, 1}}, *first));
  };
  const auto times = time_all(
      {{events, 1, sync}, {values, 1, sync}, {launch_pair, 1, sync}, {our_pair, 1, [&] { bench.idle(); }}}, 200);
  std::printf("|   raw hop: event record + wait %.3f us, value write + wait %.3f us\n", times[0], times[1]);
  print_row("semaphore: two dispatches, the second waits for the first", times[2], times[3], "-");
}

}  // namespace

int run(bool only_tracing) {
  if (testing_support::conformance_ptx().empty()) {
    std::puts("skipped: built without nvcc, there is no kernel to time");
    return 0;
  }
  const auto driver = make_driver();
  const auto devices = driver->list();
  if (!devices.has_value()) {
    std::printf("skipped: no CUDA device (%s)\n", devices.error().to_string().c_str());
    return 0;
  }
  std::printf("device: %s\n", (*devices)[0].description.c_str());
  std::printf("| %-58s | %9s | %9s | %6s | %s |\n|---|---|---|---|---|\n", "what", "raw us", "ours us", "ratio",
              "reach");
  if (only_tracing) return bench_tracing(), 0;
  bench_stream();
  bench_graph_execute();
  bench_patch();
  bench_build();
  bench_independent();
  bench_guard();
  bench_memory();
  bench_semaphores();
  bench_tracing();
  return 0;
}

}  // namespace baton::hal::drivers::cuda

int main(int argc, char** argv) {
  return baton::hal::drivers::cuda::run(argc == 2 && std::string_view(argv[1]) == "--only=tracing");
}
