// Graph: a recording as a CUDA graph: built once, instantiated once, uploaded ahead; each later table touches only the
// nodes of the commands whose slots changed.
//
// An execution binds its table, which says what differs from the last one, and launches: under one lock. An index from
// slot to records (from the recording's SlotIndex) says which nodes that touches. What a node cannot take in place (a
// copy whose memory is suddenly of another kind, a foreign segment of another shape) makes the graph anew; the report
// counts it.
// Threads: as each function says; launches are in the order of their calls.
#pragma once

#include "hal/drivers/common/bound_table.hpp"
#include "hal/drivers/cuda/graph_report.hpp"
#include "hal/drivers/cuda/graph_shape.hpp"
#include "hal/drivers/cuda/recording.hpp"

namespace baton::hal::drivers::cuda {

// What adds nodes sees.
class GraphBuilder {
 public:
  GraphBuilder(CUgraph graph, GraphShape& shape, std::vector<CUgraphNode>& nodes, std::vector<Ref<hal::Buffer>>& kept)
      : graph_(graph), shape_(shape), nodes_(nodes), kept_(kept) {}

  CUgraph graph() const { return graph_; }
  const CUgraphNode* dependencies() const { return shape_.dependencies().data(); }
  size_t dependency_count() const { return shape_.dependencies().size(); }
  // Whether that is one kernel.
  bool behind_kernel() const { return shape_.behind_kernel(); }
  // A copy of a captured graph, as one node.
  Status add_segment(CUgraph segment, const Execution& execution);
  void added(CUgraphNode node, bool is_kernel = false) {
    shape_.added(node, is_kernel);
    nodes_.push_back(node);
  }
  // As long as the graph.
  void keep(Ref<hal::Buffer> buffer) { kept_.push_back(std::move(buffer)); }

 private:
  CUgraph graph_;
  GraphShape& shape_;
  std::vector<CUgraphNode>& nodes_;
  std::vector<Ref<hal::Buffer>>& kept_;
};

class alignas(64) Graph {
 public:
  explicit Graph(Recording& recording);
  ~Graph();

  // Held over bind() and launch(), and taken before the lock of a stream.
  std::mutex& mutex() { return mutex_; }
  // Makes `table` the one that is launched with. Unless it was checked, a table that does not fit is refused, and the
  // last one stays. `frees`: how often buffers of the queue were freed so far. Null for recordings without slots.
  using Bound = std::shared_ptr<BoundTable>;
  Result<Bound> bind(const BindingTable& table, uint64_t frees, bool checked);
  // By slot, of the table that is bound, and the constants.
  std::span<const SlotValue> slots() const { return slots_; }
  std::span<const uint32_t> constants() const { return constants_; }
  // With what is bound, behind what is on the stream, whose lock is held.
  Status launch(const Execution& execution, Bound table, bool timed);
  GraphReport report();

 private:
  struct Clock;

  Bound bind_anew(const BindingTable& table);
  void note_changes(const BoundTable& last, const BindingTable& table);
  Status check_changes(const BindingTable& table) const;
  void bind_slot(BoundTable& bound, size_t slot, const BufferRange& range);
  void set_slot(size_t slot, const SlotValue& value);
  void set_constants(std::span<const uint32_t> constants);
  void note_stream(Stream& stream);
  Status update(const Execution& execution, bool timed);
  Status build(const Execution& execution, bool timed);
  Status add_records(const Execution& execution);
  Status patch(const Execution& execution);
  Status patch_record(uint32_t command, const Execution& execution);
  void index_slots();
  void mark(std::span<const uint32_t> commands);
  void forget_changes();
  void retire(const Execution& execution);
  void destroy();

  // By slot, then by command: rows_[slot] .. rows_[slot + 1] in commands_.
  struct Index {
    std::vector<uint32_t> rows;
    std::vector<uint32_t> commands;
    std::span<const uint32_t> of(size_t slot) const {
      return {commands.data() + rows[slot], rows[slot + 1] - rows[slot]};
    }
  };
  static Index make_index(size_t slot_count, std::span<const SlotUse> uses);

  // By command: what is looked at when it is patched.
  struct Command {
    Record* record = nullptr;  // Null where a command has none.
    uint32_t first_node = 0;   // The nodes end where the next command's begin.
    uint32_t changed_in = 0;   // The epoch that marked it.
  };

  // First, in few cache lines, what every execution looks at.
  std::mutex mutex_;
  const uint32_t slot_count_;
  const uint32_t constant_slot_count_;
  CUgraphExec instance_ = nullptr;
  Stream* last_stream_ = nullptr;
  std::vector<uint32_t> changed_;           // Commands to patch.
  std::vector<uint32_t> always_;            // Commands that are patched in each execution.
  std::vector<Ref<hal::Buffer>> replaced_;  // Bound before, for launches that may be under way.
  std::weak_ptr<BoundTable> last_bound_;
  uint64_t bound_frees_ = 0;  // When it was checked.
  uint64_t executions_ = 0;
  std::vector<SlotValue> slots_{SlotValue{}};
  std::vector<uint32_t> constants_;

  Recording& recording_;               // Owns the graph.
  PrimaryContext* context_ = nullptr;  // Of the first execution; the recording keeps it.
  CUgraph graph_ = nullptr;
  std::vector<Command> commands_;   // One more than there are.
  std::vector<CUgraphNode> nodes_;  // Those of a record are neighbours.
  std::vector<Ref<hal::Buffer>> kept_;
  Index buffer_index_;
  Index constant_index_;
  std::vector<uint32_t> changed_slots_;
  std::vector<Stream*> streams_;  // That it was launched on; the device has them.
  uint32_t epoch_ = 1;
  bool told_ = false;  // The report is printed when the graph goes.
  GraphReport report_;
};

}  // namespace baton::hal::drivers::cuda
