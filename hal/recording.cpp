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
  if (table.constants.size() < constant_slot_count_) {
    return failure(StatusCode::kInvalidArgument, "The recording has ", constant_slot_count_,
                   " constant slots; the table has ", table.constants.size(), " constants.");
  }
  return {};
}

}  // namespace baton::hal
