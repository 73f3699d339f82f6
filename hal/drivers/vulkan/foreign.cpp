// foreign on Vulkan: a segment of its own. The function is called when a table is bound, and gets a command buffer if it
// asks for one; what it recorded there is kept for the tables that it was called with last. One that never asks works on
// the host: it is called in its turn, each time that the recording runs, and so is any the first time.

#include "hal/commands/foreign.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "hal/device.hpp"
#include "hal/drivers/vulkan/command_buffer.hpp"
#include "hal/drivers/vulkan/device.hpp"
#include "hal/drivers/vulkan/foreign_segments.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

// Tables whose segments are kept.
constexpr size_t kKeptMax = 8;

class Scope final : public ForeignScope {
 public:
  explicit Scope(Device& device) : device_(device) {}

  Status extension(std::string_view name, void* out) override {
    BATON_TRY(check_extension(device_.name(), name, out));
    if (!segment_) {
      BATON_TRY_ASSIGN(segment_, Segment::begin(Ref<Context>(&device_.context())));
    }
    segment_->describe(out);
    return {};
  }

  // Null when nothing was asked for.
  Result<std::unique_ptr<Segment>> end() {
    if (segment_) BATON_TRY(segment_->end());
    return std::move(segment_);
  }

 private:
  Device& device_;
  std::unique_ptr<Segment> segment_;
};

// `in_turn`: what stands before it is done, so that the host may look.
Result<std::unique_ptr<Segment>> record_segment(const SegmentRecord& record, Device& device, const Arguments& arguments,
                                                bool in_turn) {
  std::vector<ForeignBinding> bindings;
  for (const ResolvedBinding& binding : record.arguments.resolved(arguments)) {
    std::byte* const host = in_turn ? binding.buffer->block().host() : nullptr;
    bindings.push_back({binding.address, host ? host + binding.buffer_offset : nullptr, binding.length});
  }
  const std::vector<uint32_t> constants = record.arguments.filled_constants(arguments);
  Scope scope(device);
  Status status = record.function->record({device, scope, bindings, constants});
  auto segment = status.ok() ? scope.end() : Result<std::unique_ptr<Segment>>(std::move(status));
  if (segment.has_value()) return segment;
  return std::move(segment).error().with_context(text("in foreign call '", record.function->name(), "'"));
}

}  // namespace

bool ForeignSegments::Key::matches(const SegmentRecord& record, const Arguments& arguments) const {
  for (size_t i = 0; i < places.size(); ++i) {
    const ResolvedBinding binding = resolve(record.arguments.bindings[i], arguments, {});
    const Place& place = places[i];
    if (place.address != binding.address || place.length != binding.length || place.slab_id != binding.slab->id) {
      return false;
    }
  }
  for (const ConstantSlot& slot : record.arguments.constant_slots) {
    if (constants[slot.constant] != arguments.constants[slot.slot]) return false;
  }
  return true;
}

ForeignSegments::Key ForeignSegments::make_key(const Arguments& arguments) const {
  Key key;
  for (const ResolvedBinding& binding : record_.arguments.resolved(arguments)) {
    key.places.push_back({binding.address, binding.length, binding.slab->id});
  }
  key.constants = record_.arguments.filled_constants(arguments);
  return key;
}

void ForeignSegments::keep(Key key, std::unique_ptr<Segment> segment) {
  if (kept_.size() == kKeptMax) kept_.erase(kept_.begin());
  kept_.push_back({std::move(key), std::move(segment)});
}

const WorkLabel* ForeignSegments::label() const { return record_.label; }

bool ForeignSegments::is_stale() const { return waits_ && record_.records.load(std::memory_order_relaxed); }

Status ForeignSegments::bind(Device& device, const Arguments& arguments) {
  waits_ = !record_.records.load(std::memory_order_relaxed);
  if (waits_) return {};
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(),
                                  [&](const Kept& kept) { return kept.key.matches(record_, arguments); });
  if (found != kept_.rend()) {
    std::rotate(found.base() - 1, found.base(), kept_.end());
    return {};
  }
  BATON_TRY_ASSIGN(auto segment, record_segment(record_, device, arguments, false));
  keep(make_key(arguments), std::move(segment));
  return {};
}

Result<VkCommandBuffer> ForeignSegments::call(Device& device, const Arguments& arguments) {
  BATON_TRY_ASSIGN(auto segment, record_segment(record_, device, arguments, true));
  if (!segment) return VkCommandBuffer{VK_NULL_HANDLE};
  record_.records.store(true, std::memory_order_relaxed);
  keep(make_key(arguments), std::move(segment));
  return commands();
}

Status CommandBuffer::foreign(const commands::Foreign& command) {
  auto* record = new (arena().allocate_array<SegmentRecord>(1)) SegmentRecord{};
  record->kind = RecordKind::kSegment;
  record->function = command.function;
  record->arguments = copy_arguments(command);
  BATON_TRY(add(*record));
  return note(command);
}

}  // namespace baton::hal::drivers::vulkan
