// foreign on CUDA: on a stream the function enqueues with everything else; in a graph its work is captured for the
// table of an execution and stands there as a child graph, which the next table's segment takes the place of.
//
// Segments are kept by table, a few of them, so that tables that come round again cost one exchange of the child graph.

#include "hal/commands/foreign.hpp"

#include <algorithm>

#include "hal/drivers/cuda/capture.hpp"
#include "hal/drivers/cuda/command_buffer.hpp"
#include "hal/drivers/cuda/device.hpp"
#include "hal/drivers/cuda/graph.hpp"
#include "hal/work_label.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// What a capture depends on.
struct ForeignTable {
  std::vector<ForeignBinding> bindings;
  std::vector<uint32_t> constants;

  bool operator==(const ForeignTable& other) const {
    if (constants != other.constants || bindings.size() != other.bindings.size()) return false;
    for (size_t i = 0; i < bindings.size(); ++i) {
      if (bindings[i].address != other.bindings[i].address || bindings[i].length != other.bindings[i].length) {
        return false;
      }
    }
    return true;
  }
};

// The segments of one command. Threads: the graph's lock.
class SegmentCache {
 public:
  static constexpr size_t kSegmentsMax = 8;

  // The segment for `table`, or null.
  const Segment* find(const ForeignTable& table) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (!(entries_[i].table == table)) continue;
      std::rotate(entries_.begin(), entries_.begin() + static_cast<ptrdiff_t>(i),
                  entries_.begin() + static_cast<ptrdiff_t>(i) + 1);
      return &entries_[0].segment;
    }
    return nullptr;
  }
  // The least recently used one goes; graphs that took it over have a copy.
  const Segment* add(ForeignTable table, Segment segment) {
    if (entries_.size() == kSegmentsMax) entries_.pop_back();
    entries_.insert(entries_.begin(), Entry{std::move(table), std::move(segment)});
    return &entries_[0].segment;
  }

  ForeignTable asked;  // The table of this execution: its memory is used again.

 private:
  struct Entry {
    ForeignTable table;
    Segment segment;
  };
  std::vector<Entry> entries_;
};

struct ForeignRecord : Record {
  ForeignFunction* function;
  std::span<const uint32_t> constants;
  std::span<const ConstantSlot> constant_slots;
  std::span<const RecordedBinding> bindings;
  SegmentCache* segments;  // The recording owns it.
};

ForeignBinding value_of(const RecordedBinding& binding, const Execution& execution) {
  return {binding.address(execution), binding.data(execution), binding.size(execution)};
}

void put_table(const ForeignRecord& command, const Execution& execution, ForeignTable& table) {
  table.bindings.clear();
  for (const RecordedBinding& binding : command.bindings) {
    table.bindings.push_back(value_of(binding, execution));
  }
  table.constants.assign(command.constants.begin(), command.constants.end());
  for (const ConstantSlot& slot : command.constant_slots) {
    table.constants[slot.constant] = execution.constants[slot.slot];
  }
}

// Few bindings, and constants that stand in the recording, take no memory of their own.
Status issue_foreign(Record& record, const Execution& execution) {
  constexpr size_t kFewBindings = 8;
  const auto& command = static_cast<const ForeignRecord&>(record);
  if (command.bindings.size() <= kFewBindings && command.constant_slots.empty()) {
    ForeignBinding few[kFewBindings];
    size_t count = 0;
    for (const RecordedBinding& binding : command.bindings) few[count++] = value_of(binding, execution);
    return call_on_stream({execution.device, *command.function, {few, count}, command.constants}, execution);
  }
  ForeignTable table;
  put_table(command, execution, table);
  return call_on_stream({execution.device, *command.function, table.bindings, table.constants}, execution);
}

Result<CUgraph> segment_for(const ForeignRecord& command, const Execution& execution) {
  ForeignTable& table = command.segments->asked;
  put_table(command, execution, table);
  const Segment* segment = command.segments->find(table);
  if (!segment) {
    const WorkLabelScope label(command.label);
    auto& capture = static_cast<Device&>(execution.device).capture();
    BATON_TRY_ASSIGN(Segment made, capture.run({execution.device, *command.function, table.bindings, table.constants}));
    segment = command.segments->add(std::exchange(table, {}), std::move(made));
  }
  return segment->graph();
}

Status add_foreign(Record& record, const Execution& execution, GraphBuilder& builder) {
  BATON_TRY_ASSIGN(CUgraph segment, segment_for(static_cast<ForeignRecord&>(record), execution));
  return builder.add_segment(segment, execution);
}

Status patch_foreign(Record& record, const Execution& execution, const PatchTarget& target) {
  BATON_TRY_ASSIGN(CUgraph segment, segment_for(static_cast<ForeignRecord&>(record), execution));
  return execution.context.status_of(
      execution.symbols().cuGraphExecChildGraphNodeSetParams(target.graph, target.nodes[0], segment),
      "cuGraphExecChildGraphNodeSetParams");
}

constexpr RecordVerbs kForeign = {issue_foreign, add_foreign, patch_foreign};

}  // namespace

Status CommandBuffer::foreign(const commands::Foreign& command) {
  auto* record = new (arena().allocate_array<ForeignRecord>(1)) ForeignRecord;
  record->function = command.function;
  record->constants = arena().copy(command.constants);
  record->constant_slots = arena().copy(command.constant_slots);
  record->bindings = copy_bindings(command.bindings);
  auto segments = std::make_shared<SegmentCache>();
  record->segments = segments.get();
  recording_->own(std::move(segments));
  if (has_any(custom_.traits(), CommandTraits::kNotCaptured)) {
    note_obstacle("a command that is not captured");
    recording_->blocks_host_ = true;
  }
  return append(command, *record, kForeign);
}

}  // namespace baton::hal::drivers::cuda
