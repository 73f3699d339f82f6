#include "hal/timeline_observer.hpp"

#include <algorithm>
#include <deque>
#include <mutex>

#include "base/text.hpp"
#include "hal/command_name.hpp"
#include "hal/drivers/common/resolve.hpp"

namespace baton::hal {
namespace {

using Label = Timeline::Label;

// How many bytes a command touches at most, under a table.
struct BytesVisitor : FieldVisitor {
  explicit BytesVisitor(std::span<const BufferRange> with) : table(with) {}
  void binding(std::string_view, const Binding& binding, BufferUsage) { count(binding, 1); }
  void bindings(std::string_view, std::span<const Binding> list, BufferUsage) {
    for (const Binding& one : list) {
      count(one, uint64_t{has_all(one.access, Access::kRead)} + uint64_t{has_all(one.access, Access::kWrite)});
    }
  }
  void count(const Binding& binding, uint64_t times) {
    const ResolvedRange range = resolve(binding, table);
    if (range.root) sum += times * (range.end - range.start);
  }
  std::span<const BufferRange> table;
  uint64_t sum = 0;
};

CommandName name_of(const CommandNotice& notice) {
  switch (notice.kind) {
#define COMMAND(Struct, verb, category) \
  case CommandKind::k##Struct:          \
    return hal::name_of(*static_cast<const commands::Struct*>(notice.command));
#include "hal/commands/commands.inc"
#undef COMMAND
  }
  return {};
}

// A dispatch's words, with `?` for those that each table fills.
std::string constants_of(const CommandNotice& notice) {
  if (notice.kind != CommandKind::kDispatch) return {};
  const auto& dispatch = *static_cast<const commands::Dispatch*>(notice.command);
  std::string words;
  for (uint32_t i = 0; i < dispatch.constants.size(); ++i) {
    if (i != 0) words += ' ';
    const bool is_filled = std::any_of(dispatch.constant_slots.begin(), dispatch.constant_slots.end(),
                                       [i](const ConstantSlot& each) { return each.constant == i; });
    words += is_filled ? std::string("?") : std::to_string(dispatch.constants[i]);
  }
  return words;
}

// A command's.
class CommandLabel final : public WorkLabel {
 public:
  CommandLabel(Timeline& timeline, const Timeline::Label* label) : timeline_(timeline), label_(label) {}
  void ran(const WorkPart& part) const override {
    timeline_.add({part.begin_ns, part.duration_ns, label_, 0, part.first ? label_->take_flow() : 0});
  }
  const Timeline::Label* timeline_label() const override { return label_; }

 private:
  Timeline& timeline_;
  const Timeline::Label* label_;
};

class TimelineObserver final : public DeviceObserver {
 public:
  TimelineObserver(Timeline& timeline, std::string_view device) : timeline_(timeline), device_(device) {
    timeline_.keep(labels_);
  }

  const WorkLabel* recording_begins(const Recording& recording) override {
    return keep(timeline_.make_label(text("execute \"", recording.name(), "\""), "queue", {{"device", device_}}));
  }

  const WorkLabel* recording(const CommandNotice& notice) override {
    if (notice.kind == CommandKind::kBarrier) return nullptr;
    CommandName called = name_of(notice);
    Timeline::Facts facts = facts_of(notice.recording, notice.custom);
    facts.emplace_back("command", text(notice.index, " ", command_verb(notice.kind)));
    if (!called.executable_name.empty()) facts.emplace_back("executable", called.executable_name);
    if (std::string constants = constants_of(notice); !constants.empty()) {
      facts.emplace_back("constants", std::move(constants));
    }
    return keep(timeline_.make_label(called.name, "command", std::move(facts), flow()));
  }

  const WorkLabel* recording_custom(const Recording& recording, const std::string& custom) override {
    return keep(timeline_.make_label(custom, "command", facts_of(recording, custom), flow()));
  }

  Status execute(Queue& queue, const Order& order, ObservedRecording& recording, const BindingTable& table) override {
    const Label* const label = recording.label()->timeline_label();
    if (label->bytes.load(std::memory_order_relaxed) == 0) note_bytes(recording, table, *label);
    timeline_.range_begins(*label);
    const int64_t begin_ns = Timeline::clock_ns();
    Status status = DeviceObserver::execute(queue, order, recording, table);
    timeline_.range_ends();
    timeline_.add({begin_ns, Timeline::clock_ns() - begin_ns, label});
    return status;
  }

  int64_t begin(std::string_view operation) override {
    timeline_.range_begins(operation);
    return Timeline::clock_ns();
  }
  void end(std::string_view operation, int64_t begun) override {
    timeline_.range_ends();
    timeline_.add({begun, Timeline::clock_ns() - begun, timeline_.label(operation, "queue")});
  }

 private:
  const WorkLabel* keep(const Label* label) {
    const std::lock_guard lock(mutex_);
    return &labels_->emplace_back(timeline_, label);
  }

  // An arrow from the call that is under way on this thread, if one is.
  uint64_t flow() {
    Timeline::Call* const call = Timeline::current_call();
    if (!call) return 0;
    if (call->flow == 0) call->flow = timeline_.new_flow();
    return call->flow;
  }

  Timeline::Facts facts_of(const Recording& recording, const std::string& custom) const {
    Timeline::Facts facts = {{"recording", recording.name()}, {"device", device_}};
    if (!custom.empty()) facts.emplace_back("module", custom);
    if (const Timeline::Call* const call = Timeline::current_call()) {
      facts.emplace_back("recorded by", call->label->name);
      facts.insert(facts.end(), call->label->facts.begin(), call->label->facts.end());
    }
    return facts;
  }

  // Of the first table; others move the same or nearly.
  static void note_bytes(const ObservedRecording& recording, const BindingTable& table, const Label& whole) {
    uint64_t sum = 0;
    recording.for_each([&](uint32_t index, const auto& command) {
      BytesVisitor visitor(table.buffers);
      std::remove_cvref_t<decltype(command)>::visit(command, visitor);
      const WorkLabel* const label = recording.command_labels()[index];
      if (label) label->timeline_label()->bytes.store(visitor.sum, std::memory_order_relaxed);
      sum += visitor.sum;
    });
    whole.bytes.store(sum, std::memory_order_relaxed);
  }

  Timeline& timeline_;
  const std::string device_;
  std::mutex mutex_;
  // Guarded by mutex_; they never move, and the timeline keeps them: work outlives the device in front of it.
  const std::shared_ptr<std::deque<CommandLabel>> labels_ = std::make_shared<std::deque<CommandLabel>>();
};

}  // namespace

Ref<Device> observe(Ref<Device> device, Timeline& timeline) {
  auto observer = std::make_shared<TimelineObserver>(timeline, device->name());
  return observe(std::move(device), std::move(observer));
}

}  // namespace baton::hal
