// Recording: commands as the CUDA driver keeps them: records in an arena that know how to do three things.
//
//   issue   enqueue the command on a stream, with the table of an execution      (stream mode, <verb>.cpp)
//   add     add its nodes to a graph that is being built                         (graph mode, graph.cpp drives)
//   patch   give its nodes in the instantiated graph the values of a new table
//
// A binding is stored as a slot and a number: slot 0 stands for address 0, so that a fixed buffer's binding is its
// absolute address; slot s + 1 is what the table puts into slot s. All three read it the same way.
// Records that stand between two barriers are independent of each other.
// Threads: as hal::Recording; the graph has a lock of its own.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hal/drivers/cuda/buffer.hpp"
#include "hal/recording.hpp"
#include "hal/work_label.hpp"

namespace baton::hal::drivers::cuda {

class Graph;
class GraphBuilder;
class NcclChannel;
struct Record;

// What a slot is in one execution. [0] is zero, [s + 1] slot s.
struct SlotValue {
  CUdeviceptr address;
  std::byte* host;
  uint64_t length;
};

// One execution of a recording: where it goes and what its slots mean.
struct Execution {
  hal::Device& device;
  PrimaryContext& context;
  Memory& memory;
  Stream& stream;
  Mark& mark;  // Keeps what the execution needs; carries its failure.
  std::span<const SlotValue> slots;
  std::span<const uint32_t> constants;  // By constant slot.

  const Symbols& symbols() const { return context.symbols(); }
};

// The nodes of one record in an instantiated graph.
struct PatchTarget {
  CUgraphExec graph;
  std::span<const CUgraphNode> nodes;
};

struct RecordVerbs {
  Status (*issue)(Record& record, const Execution& execution);
  Status (*add)(Record& record, const Execution& execution, GraphBuilder& builder);
  Status (*patch)(Record& record, const Execution& execution, const PatchTarget& target);
};

struct Record {
  const RecordVerbs* verbs = nullptr;
  Record* next = nullptr;
  const WorkLabel* label = nullptr;  // Of whoever observes (hal/work_label.hpp).
  uint32_t command = 0;              // Its index in the recording.
  bool begins_phase = false;         // A barrier stands before it.
  bool always_patched = false;       // Each execution has its own objects in it.
};

// Part of a record.
struct RecordedBinding {
  uint32_t slot;  // 0: fixed.
  bool open;
  CUdeviceptr offset;
  uint64_t length;
  std::byte* host;

  static RecordedBinding make(const Binding& binding) {
    if (binding.is_slot()) return {binding.slot + 1, binding.is_open(), binding.offset, binding.length, nullptr};
    const auto& buffer = static_cast<const Buffer&>(*binding.buffer);
    std::byte* host = buffer.host() ? buffer.host() + binding.offset : nullptr;
    return {0, false, buffer.address() + binding.offset, binding.length, host};
  }
  CUdeviceptr address(const Execution& execution) const { return execution.slots[slot].address + offset; }
  uint64_t size(const Execution& execution) const { return open ? execution.slots[slot].length - offset : length; }
  // Null where the host cannot see it.
  std::byte* data(const Execution& execution) const {
    if (slot == 0) return host;
    std::byte* start = execution.slots[slot].host;
    return start ? start + offset : nullptr;
  }
};

class Recording final : public hal::Recording {
 public:
  Recording(hal::Device& device, const RecordingOptions& options);
  ~Recording() override;

  Record* first() const { return first_; }
  // Whether a graph can hold it; if not, why not.
  std::string_view graph_obstacle() const { return graph_obstacle_; }
  // Whether the host must look at what the device wrote before the rest can be enqueued.
  bool blocks_host() const { return blocks_host_; }
  // Whether parts of it can fail while they run.
  bool calls_host() const { return calls_host_; }
  // Whether it meets other ranks.
  bool has_channels() const { return has_channels_; }
  // Ok, or why a channel of its ended, and with it whatever was executed.
  Status channel_failure() const;
  // The same as far as it is known without asking NCCL.
  Status known_channel_failure() const;
  // An execution of it ends there.
  void watch_channels(const Ref<Mark>& mark) const;
  const WorkLabel* label() const { return label_; }
  // "in recording "prefill" (kernels 'a', 'b')".
  std::string description() const;

  // Which commands use which constant slot.
  std::span<const SlotUse> constant_uses() const { return constant_uses_; }

  // Enqueues every command.
  Status issue(const Execution& execution) const;
  Status issue_heard(const Execution& execution, WorkListener& listener) const;
  // How long that took once, for the report; 0: not known.
  int64_t stream_ns() const { return stream_ns_.load(std::memory_order_relaxed); }
  void note_stream_ns(int64_t ns) { stream_ns_.store(ns, std::memory_order_relaxed); }
  // Made by the first execution that wants it.
  Graph& graph();
  // How often it was executed before it ran as a graph; the queue counts, and decides.
  uint64_t count_execution() { return executions_.fetch_add(1, std::memory_order_relaxed); }
  bool runs_as_graph() const { return runs_as_graph_.load(std::memory_order_relaxed); }
  void note_runs_as_graph() { runs_as_graph_.store(true, std::memory_order_relaxed); }

  // What a record needs that an arena cannot hold.
  void own(std::shared_ptr<void> thing) { owned_.push_back(std::move(thing)); }

 private:
  friend class CommandBuffer;
  void add_channel(NcclChannel& channel);

  // Together, in one cache line, what every execution looks at.
  alignas(64) Record* first_ = nullptr;
  std::atomic<Graph*> made_graph_{nullptr};  // graph_, once it is made.
  std::atomic<uint64_t> executions_{0};
  std::atomic<bool> runs_as_graph_{false};
  bool blocks_host_ = false;
  bool calls_host_ = false;
  bool has_channels_ = false;  // channels_ is not empty.
  std::string_view graph_obstacle_;
  std::vector<SlotUse> constant_uses_;
  std::vector<std::string> kernel_names_;  // The first few, for messages.
  std::vector<std::shared_ptr<void>> owned_;
  std::vector<Ref<NcclChannel>> channels_;
  std::atomic<int64_t> stream_ns_{0};
  const WorkLabel* const label_;  // The observer's.
  std::mutex graph_mutex_;
  std::unique_ptr<Graph> graph_;  // Guarded by graph_mutex_.
};

}  // namespace baton::hal::drivers::cuda
