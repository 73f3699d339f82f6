#include "hal/recording.hpp"

#include "hal/device.hpp"

namespace baton::hal {

Recording::Recording(Device& device, const RecordingOptions& options)
    : device_(&device),
      arena_(device.block_pool()),
      name_(options.name),
      slots_(arena_, options.slot_count),
      constant_slot_count_(options.constant_slot_count) {}

Recording::~Recording() {
  retained_.for_each([](const Retained& retained) { retained.release(retained.object); });
}

Status Recording::check(const BindingTable& table) const {
  BATON_TRY(slots_.check(table.buffers, &device_->allocator()));
  return check_constants(table.constants);
}

Status Recording::check_slot(size_t slot, const BufferRange& range) const {
  return slots_.check_slot(slot, range, &device_->allocator());
}

Status Recording::check_constants(std::span<const uint32_t> constants) const {
  if (constants.size() >= constant_slot_count_) [[likely]]
    return {};
  return failure(StatusCode::kInvalidArgument, "The recording has ", constant_slot_count_,
                 " constant slots; the table has ", constants.size(), " constants.");
}

}  // namespace baton::hal
