// What a custom command records with Vulkan itself (modules/sdk/vulkan.h): between begin_custom and end_custom an extension
// opens a segment, which the next command or the end closes. Its addresses are those of the call: work whose buffers
// come from slots is a `foreign` command, which records for each table.

#include "hal/commands/barrier.hpp"
#include "hal/drivers/vulkan/command_buffer.hpp"
#include "hal/drivers/vulkan/device.hpp"

namespace baton::hal::drivers::vulkan {

Status CommandBuffer::begin_custom(const CustomCommand& command) {
  custom_.begin(command);
  return {};
}

Status CommandBuffer::extension(std::string_view name, void* out) {
  BATON_TRY(custom_.check(name));
  BATON_TRY(check_extension(device_.name(), name, out));
  if (!segment_) {
    BATON_TRY_ASSIGN(segment_, Segment::begin(Ref<Context>(&device_.context())));
    segment_label_ = work_label();
  }
  segment_->describe(out);
  return {};
}

Status CommandBuffer::close_segment() {
  std::unique_ptr<Segment> segment = std::move(segment_);
  BATON_TRY_CONTEXT(segment->end(), "in custom command '", custom_.name(), "'");
  auto* record = new (arena().allocate_array<SegmentRecord>(1)) SegmentRecord{};
  record->kind = RecordKind::kSegment;
  record->made = segment.get();
  append(*record);
  record->label = segment_label_;
  recording_->segments_.push_back(std::move(segment));
  return {};
}

Status CommandBuffer::end_custom(const CustomCommand&) {
  Status status;
  if (segment_) status = close_segment();
  custom_.end();
  return status;
}

}  // namespace baton::hal::drivers::vulkan
