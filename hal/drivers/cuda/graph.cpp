#include "hal/drivers/cuda/graph.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "hal/drivers/cuda/device.hpp"
#include "hal/drivers/cuda/kept_instance.hpp"
#include "hal/drivers/cuda/work_listener.hpp"
#include "hal/work_label.hpp"

namespace baton::hal::drivers::cuda {

namespace {

// Stands for a moment at which everything has to be checked anew.
constexpr uint64_t kNeverChecked = ~uint64_t{0};

}  // namespace

// Adds the time until it dies, if times are wanted.
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

Graph::Graph(Recording& recording)
    : slot_count_(static_cast<uint32_t>(recording.slots().needs().size())),
      constant_slot_count_(recording.constant_slot_count()),
      constants_(constant_slot_count_),
      recording_(recording) {}

// Whatever was launched keeps the recording, and so the graph, until it is done.
Graph::~Graph() {
  if (const auto table = last_bound_.lock()) {
    for (Stream* stream : streams_) stream->drop_bound_table(table);
  }
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
  now.executions = executions_;
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
    if (commands_[use.command].record) uses.push_back(use);
  });
  buffer_index_ = make_index(slot_count_, uses);
  constant_index_ = make_index(constant_slot_count_, recording_.constant_uses());
  changed_.clear();
  epoch_ = 1;
}

namespace {

Result<std::string> kernel_name(CUgraphNode node, const Symbols& symbols) {
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  const char* name = nullptr;
  BATON_CUDA_TRY(symbols, cuGraphKernelNodeGetParams, node, &kernel);
  if (kernel.func) {
    BATON_CUDA_TRY(symbols, cuFuncGetName, &name, kernel.func);
  } else {
    BATON_CUDA_TRY(symbols, cuKernelGetName, &name, kernel.kern);
  }
  return std::string(name);
}

Status tell_child(WorkListener& listener, CUgraphNode child, CUgraph segment, const Symbols& symbols) {
  size_t count = 0;
  BATON_CUDA_TRY(symbols, cuGraphGetNodes, segment, nullptr, &count);
  std::vector<CUgraphNode> nodes(count);
  BATON_CUDA_TRY(symbols, cuGraphGetNodes, segment, nodes.data(), &count);
  std::vector<WorkListener::ChildNode> told(count);
  for (size_t i = 0; i < count; ++i) {
    BATON_CUDA_TRY(symbols, cuGraphNodeGetType, nodes[i], &told[i].type);
    if (told[i].type != CU_GRAPH_NODE_TYPE_KERNEL) continue;
    BATON_TRY_ASSIGN(told[i].kernel, kernel_name(nodes[i], symbols));
  }
  listener.added_child(work_label(), child, std::move(told));
  return {};
}

}  // namespace

Status GraphBuilder::add_segment(CUgraph segment, const Execution& execution) {
  CUgraphNode node = nullptr;
  BATON_TRY(execution.context.status_of(
      execution.symbols().cuGraphAddChildGraphNode(&node, graph_, dependencies(), dependency_count(), segment),
      "cuGraphAddChildGraphNode"));
  added(node);
  WorkListener* const listener = execution.context.work_listener();
  return listener ? tell_child(*listener, node, segment, execution.symbols()) : Status();
}

Status Graph::add_records(const Execution& execution) {
  GraphShape shape(*context_, static_cast<Device&>(execution.device).builtins(), graph_);
  GraphBuilder builder(graph_, shape, nodes_, kept_);
  nodes_.clear();
  nodes_.reserve(recording_.command_count());
  commands_.assign(recording_.command_count() + 1, {});
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
      Command* command = &commands_[record->command];
      command[0] = {record, static_cast<uint32_t>(nodes_.size()), 0};
      const WorkLabelScope label(record->label);
      BATON_TRY(record->verbs->add(*record, execution, builder));
      command[1].first_node = static_cast<uint32_t>(nodes_.size());
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
  return {};
}

void Graph::mark(std::span<const uint32_t> commands) {
  for (const uint32_t command : commands) {
    if (std::exchange(commands_[command].changed_in, epoch_) == epoch_) continue;
    __builtin_prefetch(commands_[command].record);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(commands_[command].record) + 64);
    changed_.push_back(command);
  }
}

void Graph::forget_changes() {
  if (changed_.empty()) return;
  changed_.clear();
  ++epoch_;
}

void Graph::set_slot(size_t slot, const SlotValue& value) {
  SlotValue& last = slots_[slot + 1];
  const bool same = value.address == last.address && value.length == last.length;
  last = value;
  if (!same && instance_) mark(buffer_index_.of(slot));
}

void Graph::set_constants(std::span<const uint32_t> constants) {
  for (size_t slot = 0; slot < constants_.size(); ++slot) {
    if (constants[slot] == constants_[slot]) continue;
    constants_[slot] = constants[slot];
    if (instance_) mark(constant_index_.of(slot));
  }
}

// Checked: a slot that is used has a buffer (SlotIndex::check).
void Graph::bind_slot(BoundTable& bound, size_t slot, const BufferRange& range) {
  if (recording_.slots().needs()[slot].use_count == 0) {
    bound.ranges[slot] = range;  // It may be anything.
    return;
  }
  bound.set(slot, range, replaced_);
  const auto& buffer = static_cast<const Buffer&>(*range.buffer);
  set_slot(slot, {buffer.address() + range.offset, buffer.host() ? buffer.host() + range.offset : nullptr,
                  range_length(range)});
}

Graph::Bound Graph::bind_anew(const BindingTable& table) {
  auto bound = std::make_shared<BoundTable>(slot_count_);
  slots_.resize(slot_count_ + 1);
  for (size_t slot = 0; slot < slot_count_ && slot < table.buffers.size(); ++slot) {
    bind_slot(*bound, slot, table.buffers[slot]);
  }
  last_bound_ = bound;
  return bound;
}

// What binding a changed slot touches is fetched while the next ones are looked for: after a while on the device none
// of it is near.
void Graph::note_changes(const BoundTable& last, const BindingTable& table) {
  changed_slots_.clear();
  last.visit_changes(table, [&](size_t slot) {
    const hal::Buffer* const buffer = table.buffers[slot].buffer;
    __builtin_prefetch(buffer);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(buffer) + 64);
    __builtin_prefetch(last.buffers[slot].get());
    __builtin_prefetch(&slots_[slot + 1]);
    changed_slots_.push_back(static_cast<uint32_t>(slot));
  });
}

Status Graph::check_changes(const BindingTable& table) const {
  for (const uint32_t slot : changed_slots_) BATON_TRY(recording_.check_slot(slot, table.buffers[slot]));
  return {};
}

Result<Graph::Bound> Graph::bind(const BindingTable& table, uint64_t frees, bool checked) {
  if (slot_count_ == 0) {
    if (!checked && constant_slot_count_ != 0) BATON_TRY(recording_.check_constants(table.constants));
    set_constants(table.constants);
    return Bound();
  }
  const bool checked_before = checked;
  Bound bound = last_bound_.lock();
  const bool comparable = bound && table.buffers.size() >= bound->ranges.size();
  // A buffer that was freed meanwhile is refused, though the table still says the same.
  if (!checked && (!comparable || frees != bound_frees_ || bound->has_peers)) {
    BATON_TRY(recording_.check(table));
    checked = true;
  }
  if (!checked) BATON_TRY(recording_.check_constants(table.constants));
  if (comparable) {
    note_changes(*bound, table);
    if (!checked) BATON_TRY(check_changes(table));
    // Beyond this point the table is taken over.
    for (const uint32_t slot : changed_slots_) bind_slot(*bound, slot, table.buffers[slot]);
  } else {
    bound = bind_anew(table);
  }
  bound->note_source(table);
  // Who checked the table before did so earlier: buffers may have been freed since.
  bound_frees_ = checked_before ? kNeverChecked : frees;
  set_constants(table.constants);
  return bound;
}

Status Graph::patch_record(uint32_t command, const Execution& execution) {
  const Command& patched = commands_[command];
  const uint32_t end = commands_[command + 1].first_node;
  const std::span<const CUgraphNode> nodes(nodes_.data() + patched.first_node, end - patched.first_node);
  return patched.record->verbs->patch(*patched.record, execution, {instance_, nodes});
}

Status Graph::patch(const Execution& execution) {
  mark(always_);
  for (const uint32_t command : changed_) BATON_TRY(patch_record(command, execution));
  report_.patched_records += changed_.size();
  return {};
}

Status Graph::update(const Execution& execution, bool timed) {
  if (instance_) {
    const Clock clock(report_.patch_ns, timed);
    Status patched = patch(execution);
    if (patched.ok()) return patched;
    BATON_TRY(execution.context.check());
  }
  Status built = build(execution, timed);
  if (!built.ok()) destroy();
  return built;
}

void Graph::note_stream(Stream& stream) {
  last_stream_ = &stream;
  if (std::find(streams_.begin(), streams_.end(), &stream) == streams_.end()) streams_.push_back(&stream);
}

Status Graph::launch(const Execution& execution, Bound table, bool timed) {
  ++executions_;
  if (timed) told_ = true;
  if (table) execution.mark.keep(std::move(table));
  if (last_stream_ != &execution.stream) note_stream(execution.stream);
  if (!instance_ || !changed_.empty() || !always_.empty()) BATON_TRY(update(execution, timed));
  forget_changes();
  const Clock clock(report_.launch_ns, timed);
  WorkListener* const listener = execution.context.work_listener();
  if (listener) [[unlikely]]
    listener->begin(recording_.label(), execution.stream.handle());
  const CUresult launched = execution.symbols().cuGraphLaunch(instance_, execution.stream.handle());
  if (listener) [[unlikely]]
    listener->end(recording_.label(), execution.stream.handle());
  if (launched != CUDA_SUCCESS) return execution.context.status_of(launched, "cuGraphLaunch");
  // Launches of one instance are in order: what earlier ones use may go after this one.
  if (!replaced_.empty()) execution.mark.keep(std::move(replaced_));
  return {};
}

}  // namespace baton::hal::drivers::cuda
