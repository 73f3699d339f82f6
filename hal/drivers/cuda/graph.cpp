#include "hal/drivers/cuda/graph.hpp"

#include <chrono>
#include <cstdio>

#include "hal/drivers/cuda/device.hpp"
#include "hal/drivers/cuda/kept_instance.hpp"

namespace baton::hal::drivers::cuda {

// Adds the time until it dies, if anybody wants to know.
struct Graph::Clock {
  Clock(int64_t& sum, bool timed) : target(timed ? &sum : nullptr) {
    if (target) start = std::chrono::steady_clock::now();
  }
  ~Clock() {
    if (target) *target += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  }
  int64_t* target;
  std::chrono::steady_clock::time_point start;
};

// Whatever was launched keeps the recording, and so the graph, until it is done.
Graph::~Graph() {
  if (!context_) return;
  if (told_) std::fprintf(stderr, "%s\n", report_text(recording_.name(), report()).c_str());
  const ContextScope scope = context_->enter();
  destroy();
}

// What was launched on any stream may still run in the instance that a new one takes the place of: it goes with the
// mark behind this execution, and launches of one instance are in order.
void Graph::retire(const Execution& execution) {
  if (instance_) {
    execution.mark.keep(
        std::make_unique<KeptInstance>(Ref<PrimaryContext>(context_), std::exchange(instance_, nullptr)));
  }
  destroy();
}

void Graph::destroy() {
  const Symbols& symbols = context_->symbols();
  if (instance_) symbols.cuGraphExecDestroy(std::exchange(instance_, nullptr));
  if (graph_) symbols.cuGraphDestroy(std::exchange(graph_, nullptr));
}

GraphReport Graph::report() {
  std::lock_guard lock(mutex_);
  GraphReport now = report_;
  now.stream_ns = recording_.stream_ns();
  return now;
}

Graph::Index Graph::make_index(size_t slot_count, std::span<const SlotUse> uses) {
  Index index;
  index.rows.assign(slot_count + 1, 0);
  for (const SlotUse& use : uses) ++index.rows[use.slot + 1];
  for (size_t slot = 0; slot < slot_count; ++slot) index.rows[slot + 1] += index.rows[slot];
  index.commands.resize(uses.size());
  std::vector<uint32_t> next(index.rows.begin(), index.rows.end() - 1);
  for (const SlotUse& use : uses) index.commands[next[use.slot]++] = use.command;
  return index;
}

void Graph::index_slots() {
  std::vector<SlotUse> uses;
  recording_.slots().uses().for_each([&](const SlotUse& use) {
    if (records_[use.command]) uses.push_back(use);
  });
  buffer_index_ = make_index(recording_.slots().needs().size(), uses);
  constant_index_ = make_index(recording_.constant_slot_count(), recording_.constant_uses());
  changed_in_.assign(recording_.command_count(), 0);
}

Status Graph::add_records(const Execution& execution) {
  GraphShape shape(*context_, static_cast<Device&>(execution.device).builtins(), graph_);
  GraphBuilder builder(graph_, shape, nodes_, kept_);
  nodes_.clear();
  first_node_.assign(recording_.command_count() + 1, 0);
  records_.assign(recording_.command_count(), nullptr);
  always_.clear();
  for (Record* phase = recording_.first(); phase;) {
    uint32_t count = 0;
    Record* end = phase;
    do {
      ++count;
      end = end->next;
    } while (end && !end->begins_phase);
    BATON_TRY(shape.begin_phase(count));
    for (Record* record = phase; record != end; record = record->next) {
      shape.begin_command();
      records_[record->command] = record;
      first_node_[record->command] = static_cast<uint32_t>(nodes_.size());
      BATON_TRY(record->verbs->add(*record, execution, builder));
      first_node_[record->command + 1] = static_cast<uint32_t>(nodes_.size());
      if (record->always_patched) always_.push_back(record->command);
    }
    phase = end;
  }
  return shape.finish();
}

Status Graph::build(const Execution& execution, bool timed) {
  context_ = &execution.context;
  const Symbols& symbols = context_->symbols();
  retire(execution);
  ++report_.builds;
  size_t free_before = 0, free_after = 0, total = 0;
  if (timed) symbols.cuMemGetInfo(&free_before, &total);
  {
    const Clock clock(report_.build_ns, timed);
    BATON_TRY(context_->status_of(symbols.cuGraphCreate(&graph_, 0), "cuGraphCreate"));
    BATON_TRY(add_records(execution));
  }
  {
    const Clock clock(report_.instantiate_ns, timed);
    BATON_TRY(context_->status_of(symbols.cuGraphInstantiateWithFlags(&instance_, graph_, 0), "cuGraphInstantiate"));
  }
  {
    const Clock clock(report_.upload_ns, timed);
    BATON_TRY(context_->status_of(symbols.cuGraphUpload(instance_, execution.stream.handle()), "cuGraphUpload"));
  }
  if (timed) symbols.cuMemGetInfo(&free_after, &total);
  report_.memory_bytes = static_cast<int64_t>(free_before) - static_cast<int64_t>(free_after);
  report_.nodes = nodes_.size();
  index_slots();
  remember(execution);
  return {};
}

void Graph::remember(const Execution& execution) {
  last_slots_.assign(execution.slots.begin(), execution.slots.end());
  last_constants_.assign(execution.constants.begin(), execution.constants.end());
}

void Graph::mark(std::span<const uint32_t> commands) {
  for (const uint32_t command : commands) {
    if (std::exchange(changed_in_[command], epoch_) != epoch_) changed_.push_back(command);
  }
}

void Graph::mark_changed(const Execution& execution) {
  changed_.clear();
  ++epoch_;
  mark(always_);
  const size_t slot_count = execution.slots.size() - 1;
  for (size_t slot = 0; slot < slot_count; ++slot) {
    const SlotValue& now = execution.slots[slot + 1];
    SlotValue& last = last_slots_[slot + 1];
    if (now.address == last.address && now.length == last.length) continue;
    last = now;
    mark(buffer_index_.of(slot));
  }
  for (size_t slot = 0; slot < last_constants_.size(); ++slot) {
    if (execution.constants[slot] == last_constants_[slot]) continue;
    last_constants_[slot] = execution.constants[slot];
    mark(constant_index_.of(slot));
  }
}

Status Graph::patch_record(uint32_t command, const Execution& execution) {
  const uint32_t first = first_node_[command];
  const std::span<const CUgraphNode> nodes(nodes_.data() + first, first_node_[command + 1] - first);
  return records_[command]->verbs->patch(*records_[command], execution, {instance_, nodes});
}

Status Graph::patch(const Execution& execution) {
  mark_changed(execution);
  for (const uint32_t command : changed_) BATON_TRY(patch_record(command, execution));
  report_.patched_records += changed_.size();
  return {};
}

Status Graph::launch(const Execution& execution, bool timed) {
  std::lock_guard lock(mutex_);
  ++report_.executions;
  told_ |= timed;
  if (!instance_) {
    Status built = build(execution, timed);
    if (!built.ok()) {
      destroy();
      return built;
    }
  } else {
    Status patched;
    {
      const Clock clock(report_.patch_ns, timed);
      patched = patch(execution);
    }
    if (!patched.ok()) {
      BATON_TRY(execution.context.check());
      Status built = build(execution, timed);
      if (!built.ok()) {
        destroy();
        return built;
      }
    }
  }
  const Clock clock(report_.launch_ns, timed);
  const CUresult launched = execution.symbols().cuGraphLaunch(instance_, execution.stream.handle());
  return launched == CUDA_SUCCESS ? Status() : execution.context.status_of(launched, "cuGraphLaunch");
}

}  // namespace baton::hal::drivers::cuda
