// By CUPTI: every kernel, copy and fill by itself, in graphs too.
//
// A node of a graph is known by an id that CUPTI gives it when it is created; copies of it, in child graphs and in what is
// instantiated, have ids of their own. So two callbacks keep a table from id to label: what is created on a thread has
// that thread's work label, a copy has its original's; what was captured is told by who captured it. CUPTI does not tell
// of the nodes that child graphs become when a graph is instantiated; but their ids follow those of the graph's own
// nodes, in the order of the children (seen with driver 580), so what runs under such an id has the label of the
// node in that place if it is of the same kind and name.
//
// What is launched on a stream is joined by the external id that stands on the thread while it is launched.

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "hal/drivers/cuda/cupti.hpp"
#include "hal/drivers/cuda/work_listener.hpp"
#include "hal/work_label.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using Label = Timeline::Label;

// CUPTI reports an external id just before the record of a call of the driver or the runtime; those records are read
// for nothing else.
constexpr uint32_t kKinds[] = {cupti::kExternalCorrelation, cupti::kDriverCall, cupti::kRuntimeCall,
                               cupti::kConcurrentKernel,    cupti::kMemcpy,     cupti::kMemset};
constexpr size_t kBufferBytes = 1 << 20;
constexpr size_t kLaunchesKept = 1 << 20;
constexpr std::align_val_t kBufferAlignment{8};

template <typename T>
T field(const void* record, uint32_t offset) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(record) + offset, sizeof(T));
  return value;
}

class CuptiListener;
std::mutex listener_mutex;
CuptiListener* the_listener = nullptr;  // Guarded by listener_mutex: CUPTI's buffers come without an address of ours.

class CuptiListener final : public WorkListener, public Timeline::Source {
 public:
  CuptiListener(std::shared_ptr<const CuptiSymbols> entries, Timeline& timeline)
      : cupti_(std::move(entries)), timeline_(timeline), sources_(timeline.sources()) {}

  Status start() {
    {
      const std::lock_guard lock(listener_mutex);
      if (the_listener) return failure(StatusCode::kFailedPrecondition, "another timeline listens by CUPTI already");
      the_listener = this;
    }
    listens_ = true;
    BATON_TRY(check(cupti_->cuptiSubscribe(&subscriber_, heard, this), "cuptiSubscribe"));
    subscribed_ = true;
    for (const uint32_t what : {cupti::kGraphNodeCreated, cupti::kGraphNodeCloned}) {
      BATON_TRY(
          check(cupti_->cuptiEnableCallback(1, subscriber_, cupti::kResourceDomain, what), "cuptiEnableCallback"));
    }
    BATON_TRY(check(cupti_->cuptiActivityRegisterTimestampCallback(clock), "cuptiActivityRegisterTimestampCallback"));
    BATON_TRY(check(cupti_->cuptiActivityRegisterCallbacks(requested, completed), "cuptiActivityRegisterCallbacks"));
    for (const uint32_t kind : kKinds) BATON_TRY(check(cupti_->cuptiActivityEnable(kind), "cuptiActivityEnable"));
    sources_->add(*this);
    return {};
  }

  ~CuptiListener() override {
    if (!listens_) return;
    sources_->remove(*this);
    if (subscribed_) {
      for (const uint32_t kind : kKinds) cupti_->cuptiActivityDisable(kind);
      flush();
      cupti_->cuptiUnsubscribe(subscriber_);
    }
    const std::lock_guard lock(listener_mutex);
    the_listener = nullptr;
  }

  void begin(const WorkLabel* label, CUstream) override {
    const Label* const named = label ? label->timeline_label() : nullptr;
    cupti_->cuptiActivityPushExternalCorrelationId(cupti::kExternalKind, reinterpret_cast<uintptr_t>(named));
  }
  void end(const WorkLabel*, CUstream) override {
    uint64_t label = 0;
    cupti_->cuptiActivityPopExternalCorrelationId(cupti::kExternalKind, &label);
  }

  void captured(const WorkLabel* label, std::span<const CUgraphNode> nodes) override {
    const Label* const named = label ? label->timeline_label() : nullptr;
    if (!named) return;
    for (CUgraphNode node : nodes) name(node, named);
  }

  void added_child(const WorkLabel* label, CUgraphNode child, std::vector<ChildNode> nodes) override {
    const Label* const named = label ? label->timeline_label() : nullptr;
    uint64_t id = 0;
    if (cupti_->cuptiGetGraphNodeId(child, &id) != 0) return;
    const std::lock_guard lock(mutex_);
    for (ChildNode& node : nodes) children_[graph_of(id)].push_back({named, std::move(node)});
  }

  void context_ends() override { flush(); }

  void timeline_ends() override {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }

  // What CUPTI still holds, then what had no partner so far.
  void flush() override {
    cupti_->cuptiActivityFlushAll(cupti::kFlushForced);
    const std::lock_guard lock(mutex_);
    for (const Work& work : std::exchange(waiting_, {})) tell(work, nullptr);
    // A launch may be told here whose work still runs: its label stays until so many others came that it can't.
    if (by_correlation_.size() > kLaunchesKept) by_correlation_.clear();
  }

 private:
  // A record of something that the device ran.
  struct Work {
    int64_t begin_ns;
    int64_t duration_ns;
    uint32_t device;
    uint32_t stream;
    uint32_t correlation;
    std::string name;
  };

  static Status check(CuptiResult result, const char* call) {
    if (result == 0) return {};
    return failure(StatusCode::kUnavailable, call, " says ", result);
  }

  static uint64_t clock() { return static_cast<uint64_t>(Timeline::clock_ns()); }

  static void requested(uint8_t** buffer, size_t* size, size_t* records_max) {
    *buffer = static_cast<uint8_t*>(operator new(kBufferBytes, kBufferAlignment));
    *size = kBufferBytes;
    *records_max = 0;
  }

  static void completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid_size) {
    {
      const std::lock_guard lock(listener_mutex);
      if (the_listener && buffer) the_listener->read(buffer, valid_size);
    }
    operator delete(buffer, kBufferAlignment);
  }

  static void heard(void* self, uint32_t domain, uint32_t what, const void* data) {
    if (domain != cupti::kResourceDomain || !data) return;
    const auto* const graph = field<const void*>(data, cupti::kResourceDescriptorOffset);
    auto& listener = *static_cast<CuptiListener*>(self);
    if (what == cupti::kGraphNodeCreated) {
      listener.created(field<CUgraphNode>(graph, cupti::kNodeOffset));
    } else if (what == cupti::kGraphNodeCloned) {
      listener.cloned(field<CUgraphNode>(graph, cupti::kNodeOffset),
                      field<CUgraphNode>(graph, cupti::kOriginalNodeOffset));
    }
  }

  void created(CUgraphNode node) {
    const Label* const label = work_label() ? work_label()->timeline_label() : nullptr;
    if (label) name(node, label);
  }

  void name(CUgraphNode node, const Label* label) {
    uint64_t id = 0;
    if (cupti_->cuptiGetGraphNodeId(node, &id) != 0) return;
    const std::lock_guard lock(mutex_);
    nodes_[id] = label;
  }

  void cloned(CUgraphNode node, CUgraphNode original) {
    uint64_t id = 0, original_id = 0;
    if (cupti_->cuptiGetGraphNodeId(node, &id) != 0 || cupti_->cuptiGetGraphNodeId(original, &original_id) != 0) return;
    const std::lock_guard lock(mutex_);
    if (const auto known = nodes_.find(original_id); known != nodes_.end()) nodes_[id] = known->second;
    if (!children_.contains(graph_of(original_id))) return;
    Instance& instance = instances_[graph_of(id)];
    instance.graph = graph_of(original_id);
    instance.own_nodes = std::max(instance.own_nodes, place_of(id) + 1);
  }

  // An id is a graph's number and the node's place in it.
  static uint32_t graph_of(uint64_t id) { return static_cast<uint32_t>(id >> 32); }
  static uint32_t place_of(uint64_t id) { return static_cast<uint32_t>(id); }

  // The label of what ran as node `id`, or null.
  const Label* find_node(uint64_t id, CUgraphNodeType type, std::string_view name) const {
    if (const auto known = nodes_.find(id); known != nodes_.end()) return known->second;
    const auto instance = instances_.find(graph_of(id));
    if (instance == instances_.end() || place_of(id) < instance->second.own_nodes) return nullptr;
    const std::vector<Child>& children = children_.at(instance->second.graph);
    const size_t place = place_of(id) - instance->second.own_nodes;
    if (place >= children.size() || children[place].node.type != type) return nullptr;
    const bool same = type != CU_GRAPH_NODE_TYPE_KERNEL || children[place].node.kernel == name;
    return same ? children[place].label : nullptr;
  }

  void read(uint8_t* buffer, size_t valid_size) {
    const std::lock_guard lock(mutex_);
    uint8_t* record = nullptr;
    while (cupti_->cuptiActivityGetNextRecord(buffer, valid_size, &record) == 0) {
      switch (field<uint32_t>(record, 0)) {
        case cupti::kExternalCorrelation:
          by_correlation_[field<uint32_t>(record, cupti::kExternalCorrelationOffset)] =
              reinterpret_cast<const Label*>(field<uint64_t>(record, cupti::kExternalIdOffset));
          break;
        case cupti::kConcurrentKernel: {
          const auto* const kernel = field<const char*>(record, cupti::kKernelLayout.name);
          read_work(record, cupti::kKernelLayout, CU_GRAPH_NODE_TYPE_KERNEL, kernel ? kernel : "");
          break;
        }
        case cupti::kMemcpy: read_work(record, cupti::kTransferLayout, CU_GRAPH_NODE_TYPE_MEMCPY, "copy"); break;
        case cupti::kMemset: read_work(record, cupti::kTransferLayout, CU_GRAPH_NODE_TYPE_MEMSET, "fill"); break;
        default: break;
      }
    }
  }

  void read_work(const uint8_t* record, const cupti::Layout& layout, CUgraphNodeType type, std::string_view name) {
    const auto begin = field<uint64_t>(record, layout.start), end = field<uint64_t>(record, layout.end);
    Work work{static_cast<int64_t>(begin),
              static_cast<int64_t>(end - begin),
              field<uint32_t>(record, layout.device),
              field<uint32_t>(record, layout.stream),
              field<uint32_t>(record, layout.correlation),
              std::string(name)};
    if (const Label* const label = find_node(field<uint64_t>(record, layout.graph_node), type, name)) {
      return tell(work, label);
    }
    const auto partner = by_correlation_.find(work.correlation);
    if (partner != by_correlation_.end()) return tell(work, partner->second);
    waiting_.push_back(std::move(work));  // Its partner may stand in a later buffer.
  }

  void tell(const Work& work, const Label* label) {
    if (ended_) return;
    if (!label) {
      const auto partner = by_correlation_.find(work.correlation);
      if (partner != by_correlation_.end()) label = partner->second;
    }
    if (!label) label = timeline_.label(work.name, "device");
    Timeline::Track*& track = tracks_[{work.device, work.stream}];
    if (!track) track = &timeline_.track(text("cuda://", work.device, " stream ", work.stream));
    timeline_.add(*track, {work.begin_ns, work.duration_ns, label, 0, label->take_flow()});
  }

  const std::shared_ptr<const CuptiSymbols> cupti_;
  Timeline& timeline_;  // Until `ended_`.
  const std::shared_ptr<Timeline::Sources> sources_;
  CuptiSubscriber subscriber_ = nullptr;
  bool listens_ = false;
  bool subscribed_ = false;
  std::mutex mutex_;  // Guards what follows.
  bool ended_ = false;
  struct Child {
    const Label* label;
    ChildNode node;
  };
  struct Instance {
    uint32_t graph = 0;      // That it was made of.
    uint32_t own_nodes = 0;  // Of that graph, children not among them.
  };
  std::unordered_map<uint64_t, const Label*> nodes_;           // By id of the node.
  std::unordered_map<uint32_t, std::vector<Child>> children_;  // By graph, in the order in which they were added.
  std::unordered_map<uint32_t, Instance> instances_;           // By graph that runs.
  std::unordered_map<uint32_t, const Label*> by_correlation_;  // What was launched on streams.
  std::vector<Work> waiting_;
  std::map<std::pair<uint32_t, uint32_t>, Timeline::Track*> tracks_;  // By device and stream.
};

}  // namespace

std::shared_ptr<WorkListener> listen_by_cupti(std::shared_ptr<const CuptiSymbols> cupti, Timeline& timeline,
                                              std::string& why_not) {
  auto listener = std::make_shared<CuptiListener>(std::move(cupti), timeline);
  const Status started = listener->start();
  if (started.ok()) return listener;
  why_not = started.message();
  return nullptr;
}

}  // namespace baton::hal::drivers::cuda
