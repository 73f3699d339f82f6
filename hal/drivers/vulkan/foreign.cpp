// foreign on Vulkan: a segment of its own. The function is called when a table is bound, and gets a command buffer if it
// asks for one; what it recorded there is kept for the tables that it was called with last.

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

Result<std::unique_ptr<Segment>> record_segment(const SegmentRecord& record, Device& device,
                                                std::span<const ResolvedBinding> resolved,
                                                std::span<const uint32_t> constants) {
  std::vector<ForeignBinding> bindings;
  // The host is given nothing: the function is called before the work around it is done.
  for (const ResolvedBinding& binding : resolved) bindings.push_back({binding.address, nullptr, binding.length});
  Scope scope(device);
  BATON_TRY(record.function->record({device, scope, bindings, constants}));
  return scope.end();
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

Status ForeignSegments::bind(Device& device, const Arguments& arguments) {
  for (size_t i = kept_.size(); i-- > 0;) {
    if (!kept_[i].key.matches(record_, arguments)) continue;
    std::rotate(kept_.begin() + static_cast<std::ptrdiff_t>(i), kept_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                kept_.end());
    return {};
  }
  Kept made;
  const std::vector<ResolvedBinding> resolved = record_.arguments.resolved(arguments);
  for (const ResolvedBinding& binding : resolved) {
    made.key.places.push_back({binding.address, binding.length, binding.slab->id});
  }
  made.key.constants = record_.arguments.filled_constants(arguments);
  auto segment = record_segment(record_, device, resolved, made.key.constants);
  if (!segment.has_value()) {
    return std::move(segment).error().with_context(text("in foreign call '", record_.function->name(), "'"));
  }
  made.segment = std::move(segment).value();
  if (kept_.size() == kKeptMax) kept_.erase(kept_.begin());
  kept_.push_back(std::move(made));
  return {};
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
