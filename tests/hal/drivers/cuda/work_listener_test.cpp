// Device spans on the fake GPU: with a CUPTI that is faked too, each command of a replayed graph by its name; without one,
// events around what is launched.
#include "hal/drivers/cuda/work_listener.hpp"

#include <cstring>
#include <map>
#include <set>

#include "hal/drivers/cuda/cupti.hpp"
#include "hal/timeline_observer.hpp"
#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using testing_support::fake_cuda;

// A CUPTI that a test drives: nodes have the ids that the test gives them, records come when it says so.
struct FakeCupti {
  CuptiSymbols::Callback callback = nullptr;
  void* self = nullptr;
  CuptiSymbols::BufferRequested requested = nullptr;
  CuptiSymbols::BufferCompleted completed = nullptr;
  std::vector<uint64_t> external;  // Of the thread, innermost last.
  std::vector<std::vector<std::byte>> records;
  std::set<uint32_t> enabled;  // Kinds of records.
  CuptiResult subscribe_result = 0;
  int subscribers = 0;
};
FakeCupti cupti;

CuptiResult subscribe(CuptiSubscriber*, CuptiSymbols::Callback callback, void* self) {
  if (cupti.subscribe_result != 0) return cupti.subscribe_result;
  ++cupti.subscribers;
  cupti.callback = callback;
  cupti.self = self;
  return 0;
}
CuptiResult next_record(uint8_t* buffer, size_t valid_size, uint8_t** record) {
  // Records of the fake have one size.
  uint8_t* const next = *record ? *record + 256 : buffer;
  if (next >= buffer + valid_size) return 12;
  *record = next;
  return 0;
}
CuptiResult flush_all(uint32_t) {
  if (cupti.records.empty()) return 0;
  uint8_t* buffer = nullptr;
  size_t size = 0, records_max = 0;
  cupti.requested(&buffer, &size, &records_max);
  size_t filled = 0;
  for (const auto& record : std::exchange(cupti.records, {})) {
    std::memcpy(buffer + filled, record.data(), 256);
    filled += 256;
  }
  cupti.completed(nullptr, 0, buffer, size, filled);
  return 0;
}

std::shared_ptr<const CuptiSymbols> make_fake_cupti() {
  cupti = {};
  auto symbols = std::make_shared<CuptiSymbols>();
  symbols->cuptiSubscribe = subscribe;
  symbols->cuptiUnsubscribe = [](CuptiSubscriber) -> CuptiResult {
    --cupti.subscribers;
    return 0;
  };
  symbols->cuptiEnableCallback = [](uint32_t, CuptiSubscriber, uint32_t, uint32_t) -> CuptiResult { return 0; };
  symbols->cuptiGetGraphNodeId = [](CUgraphNode node, uint64_t* id) -> CuptiResult {
    *id = reinterpret_cast<uintptr_t>(node);
    return 0;
  };
  symbols->cuptiActivityEnable = [](uint32_t kind) -> CuptiResult {
    cupti.enabled.insert(kind);
    return 0;
  };
  symbols->cuptiActivityDisable = [](uint32_t) -> CuptiResult { return 0; };
  symbols->cuptiActivityRegisterCallbacks = [](CuptiSymbols::BufferRequested requested,
                                               CuptiSymbols::BufferCompleted completed) -> CuptiResult {
    cupti.requested = requested;
    cupti.completed = completed;
    return 0;
  };
  symbols->cuptiActivityRegisterTimestampCallback = [](uint64_t (*)()) -> CuptiResult { return 0; };
  symbols->cuptiActivityGetNextRecord = next_record;
  symbols->cuptiActivityFlushAll = flush_all;
  symbols->cuptiActivityPushExternalCorrelationId = [](uint32_t, uint64_t id) -> CuptiResult {
    cupti.external.push_back(id);
    return 0;
  };
  symbols->cuptiActivityPopExternalCorrelationId = [](uint32_t, uint64_t*) -> CuptiResult {
    cupti.external.pop_back();
    return 0;
  };
  return symbols;
}

template <typename T>
void put(std::vector<std::byte>& record, uint32_t offset, T value) {
  std::memcpy(record.data() + offset, &value, sizeof(value));
}

std::vector<std::byte> kernel_record(uint64_t node, uint32_t correlation, const char* name) {
  std::vector<std::byte> record(256);
  put<uint32_t>(record, 0, cupti::kConcurrentKernel);
  put<uint64_t>(record, cupti::kKernelLayout.start, 1000);
  put<uint64_t>(record, cupti::kKernelLayout.end, 1500);
  put<uint32_t>(record, cupti::kKernelLayout.stream, 7);
  put<uint32_t>(record, cupti::kKernelLayout.correlation, correlation);
  put<uint64_t>(record, cupti::kKernelLayout.graph_node, node);
  put<const char*>(record, cupti::kKernelLayout.name, name);
  return record;
}
std::vector<std::byte> external_record(uint64_t id, uint32_t correlation) {
  std::vector<std::byte> record(256);
  put<uint32_t>(record, 0, cupti::kExternalCorrelation);
  put<uint64_t>(record, cupti::kExternalIdOffset, id);
  put<uint32_t>(record, cupti::kExternalCorrelationOffset, correlation);
  return record;
}

void tell_node(uint32_t what, CUgraphNode node, CUgraphNode original) {
  std::byte graph[48] = {}, resource[24] = {};
  std::memcpy(graph + cupti::kNodeOffset, &node, sizeof(node));
  std::memcpy(graph + cupti::kOriginalNodeOffset, &original, sizeof(original));
  const void* const descriptor = graph;
  std::memcpy(resource + cupti::kResourceDescriptorOffset, &descriptor, sizeof(descriptor));
  cupti.callback(cupti.self, cupti::kResourceDomain, what, resource);
}
CUgraphNode node_of(uintptr_t id) { return reinterpret_cast<CUgraphNode>(id); }

Ref<hal::Device> open_traced(std::string_view mode, Timeline& timeline, std::shared_ptr<const CuptiSymbols> symbols) {
  const DeviceParameter parameters[] = {{"cuda_mode", mode}};
  Options options{testing_support::make_fake_cuda(), &timeline, std::move(symbols)};
  fake_cuda().kernels = testing_support::fake_conformance_kernels();
  return observe(make_driver(std::move(options))->open("", parameters).value(), timeline);
}

// Two dispatches, a barrier between them.
Ref<hal::Recording> record_scales(hal::Device& device, hal::Executable& kernels, hal::Buffer& buffer) {
  auto commands = device.make_command_buffer({.name = "scales"}).value();
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t constants[] = {2, 2};
    const Binding bindings[] = {Binding(buffer)};
    EXPECT_OK(
        commands->dispatch({.executable = &kernels, .entry_point = 0, .constants = constants, .bindings = bindings}));
    EXPECT_OK(commands->barrier({}));
  }
  return commands->finish().value();
}

using Names = std::map<std::string, int>;
Names device_spans(Timeline& timeline) {
  timeline.flush();
  Names names;
  timeline.for_each([&](std::string_view row, const Timeline::Span& span) {
    if (!row.starts_with("cuda")) return;
    std::string command;
    for (const auto& [key, value] : span.label->facts) {
      if (key == "command") command = ", command " + value;
    }
    ++names[span.label->name + command];
  });
  return names;
}

// The driver copies the nodes of a graph when it instantiates it; kernels tell of the copies.
TEST(WorkListenerTest, ANodeOfAReplayedGraphHasTheNameOfItsCommand) {
  Timeline timeline;
  {
    const auto device = open_traced("graph", timeline, make_fake_cupti());
    const auto kernels = load_kernels(*device, kFakeCode);
    const auto buffer = buffer_of(*device, {1, 1});
    // What CUPTI would say while the driver works for the graph: the fake says it where nodes are added.
    static uintptr_t id;
    id = 100;
    fake_cuda().node_added = [] { tell_node(cupti::kGraphNodeCreated, node_of(++id), nullptr); };
    const auto recording = record_scales(*device, *kernels, *buffer);
    EXPECT_OK(run(*device, *recording));
    ASSERT_EQ(id, 102u);
    tell_node(cupti::kGraphNodeCloned, node_of(201), node_of(101));
    tell_node(cupti::kGraphNodeCloned, node_of(202), node_of(102));
    tell_node(cupti::kGraphNodeCloned, node_of(203), node_of(99));  // Nobody's.
    for (int replay = 0; replay < 3; ++replay) {
      for (const uint64_t node : {201u, 202u, 203u}) cupti.records.push_back(kernel_record(node, 5, "mangled"));
    }
  }
  EXPECT_EQ(cupti.subscribers, 0);
  EXPECT_EQ(device_spans(timeline),
            (Names{{"scale, command 0 dispatch", 3}, {"scale, command 2 dispatch", 3}, {"mangled", 3}}));
}

class TimelineLabel final : public WorkLabel {
 public:
  explicit TimelineLabel(const Timeline::Label* label) : label_(label) {}
  const Timeline::Label* timeline_label() const override { return label_; }

 private:
  const Timeline::Label* const label_;
};

// CUPTI does not tell of each node that a capture makes.
TEST(WorkListenerTest, ACapturedNodeHasTheNameOfWhoCapturedIt) {
  Timeline timeline;
  const TimelineLabel gemm(timeline.label("gemm", "command"));
  std::string why_not;
  const auto listener = listen_by_cupti(make_fake_cupti(), timeline, why_not);
  ASSERT_NE(listener, nullptr) << why_not;
  const CUgraphNode nodes[] = {node_of(11), node_of(12)};
  listener->captured(&gemm, nodes);
  const CUgraphNode nobodys[] = {node_of(13)};
  listener->captured(nullptr, nobodys);
  for (const uintptr_t node : {11u, 12u, 13u}) tell_node(cupti::kGraphNodeCloned, node_of(node + 100), node_of(node));
  for (const uint64_t node : {111u, 112u, 113u}) cupti.records.push_back(kernel_record(node, 5, "mangled"));
  EXPECT_EQ(device_spans(timeline), (Names{{"gemm", 2}, {"mangled", 1}}));
}

// CUPTI tells nothing of the nodes that a child graph becomes: they run under ids behind those of the instance's own nodes.
TEST(WorkListenerTest, WhatAChildGraphBecomesHasTheNameOfItsCommand) {
  constexpr uint64_t kGraph = uint64_t{7} << 32, kInstance = uint64_t{12} << 32;
  Timeline timeline;
  const TimelineLabel gemm(timeline.label("gemm", "command")), fft(timeline.label("fft", "command"));
  std::string why_not;
  const auto listener = listen_by_cupti(make_fake_cupti(), timeline, why_not);
  ASSERT_NE(listener, nullptr) << why_not;
  // Nodes 1 and 3 of a graph of four are children.
  listener->added_child(&gemm, node_of(kGraph + 1),
                        {{CU_GRAPH_NODE_TYPE_KERNEL, "sgemm"}, {CU_GRAPH_NODE_TYPE_KERNEL, "reduce"}});
  listener->added_child(nullptr, node_of(kGraph + 2), {{CU_GRAPH_NODE_TYPE_KERNEL, "nobodys"}});
  listener->added_child(&fft, node_of(kGraph + 3), {{CU_GRAPH_NODE_TYPE_KERNEL, "radix"}});
  for (uint64_t i = 0; i < 4; ++i) tell_node(cupti::kGraphNodeCloned, node_of(kInstance + i), node_of(kGraph + i));
  const char* const ran[] = {"sgemm", "reduce", "nobodys", "radix", "beyond"};
  for (uint64_t i = 0; i < 5; ++i) cupti.records.push_back(kernel_record(kInstance + 4 + i, 5, ran[i]));
  cupti.records.push_back(kernel_record(kInstance + 4, 5, "another"));  // The ids of this driver are in another order.
  cupti.records.push_back(kernel_record(kInstance + (uint64_t{1} << 32) + 4, 5, "sgemm"));  // Another graph.
  EXPECT_EQ(device_spans(timeline),
            (Names{{"gemm", 2}, {"nobodys", 1}, {"fft", 1}, {"beyond", 1}, {"another", 1}, {"sgemm", 1}}));
}

// A device's last reference may go on a thread of its own, after the app's timeline.
TEST(WorkListenerTest, ADeviceMayEndAfterItsTimeline) {
  for (const char* mode : {"stream", "graph"}) {
    for (const bool by_cupti : {true, false}) {
      auto timeline = std::make_unique<Timeline>();
      const auto device = open_traced(mode, *timeline, by_cupti ? make_fake_cupti() : nullptr);
      const auto kernels = load_kernels(*device, kFakeCode);
      const auto buffer = buffer_of(*device, {1, 1});
      const auto recording = record_scales(*device, *kernels, *buffer);
      EXPECT_OK(run(*device, *recording));
      if (by_cupti) cupti.records.push_back(kernel_record(1, 5, "mangled"));
      timeline = nullptr;
    }
  }
}

TEST(WorkListenerTest, AStreamsCommandsAreJoinedByTheirCorrelation) {
  Timeline timeline;
  {
    const auto device = open_traced("stream", timeline, make_fake_cupti());
    const auto kernels = load_kernels(*device, kFakeCode);
    const auto buffer = buffer_of(*device, {1, 1});
    static uint32_t correlation;
    correlation = 0;
    fake_cuda().kernel_launched = [] {
      ASSERT_EQ(cupti.external.size(), 1u);
      // The partner of the first comes behind it, in a later buffer.
      cupti.records.push_back(kernel_record(0, ++correlation, "mangled"));
      if (correlation == 1) flush_all(0);
      // CUPTI tells external ids only before the records of calls.
      if (cupti.enabled.contains(cupti::kDriverCall) && cupti.enabled.contains(cupti::kRuntimeCall)) {
        cupti.records.push_back(external_record(cupti.external.back(), correlation));
      }
    };
    const auto recording = record_scales(*device, *kernels, *buffer);
    EXPECT_OK(run(*device, *recording));
    EXPECT_EQ(correlation, 2u);
    EXPECT_TRUE(cupti.external.empty());
  }
  EXPECT_EQ(device_spans(timeline), (Names{{"scale, command 0 dispatch", 1}, {"scale, command 2 dispatch", 1}}));
}

TEST(WorkListenerTest, WithoutCuptiEventsStandAroundWhatIsLaunched) {
  const std::map<std::string_view, Names> expected = {
      {"stream", {{"scale, command 0 dispatch", 2}, {"scale, command 2 dispatch", 2}}},
      {"graph", {{"execute \"scales\"", 2}}}};
  for (const auto& [mode, names] : expected) {
    Timeline timeline;
    {
      const auto symbols = make_fake_cupti();
      cupti.subscribe_result = 39;  // Another tool has it.
      const auto device = open_traced(mode, timeline, symbols);
      const auto kernels = load_kernels(*device, kFakeCode);
      const auto buffer = buffer_of(*device, {1, 1});
      const auto recording = record_scales(*device, *kernels, *buffer);
      EXPECT_OK(run(*device, *recording));
      EXPECT_OK(run(*device, *recording));
    }
    EXPECT_EQ(device_spans(timeline), names) << mode;
    ASSERT_EQ(timeline.notes().size(), 1u);
    EXPECT_NE(timeline.notes()[0].find("cuptiSubscribe says 39"), std::string::npos) << timeline.notes()[0];
  }
}

TEST(WorkListenerTest, OneTimelineAtATimeHasCupti) {
  Timeline first, second;
  const auto symbols = make_fake_cupti();
  const auto one = open_traced("graph", first, symbols);
  std::string why_not;
  EXPECT_EQ(listen_by_cupti(symbols, second, why_not), nullptr);
  EXPECT_EQ(why_not, "another timeline listens by CUPTI already");
}

}  // namespace
}  // namespace baton::hal::drivers::cuda
