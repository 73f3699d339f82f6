// fill_buffer on the host: memset for bytes, a store loop that vectorizes for the rest.

#include "hal/commands/fill_buffer.hpp"

#include <cstring>

#include "hal/drivers/local/command_buffer.hpp"
#include "hal/drivers/local/transfer.hpp"

namespace baton::hal::drivers::local {
namespace {

struct FillBufferRecord : Record {
  RecordedBinding target;
  uint64_t pattern;
  uint32_t pattern_bytes;
};

// Through memcpy: a slot's base may have any alignment.
template <typename Pattern>
void fill(std::byte* target, size_t length, uint64_t bits) {
  const auto pattern = static_cast<Pattern>(bits);
  for (size_t i = 0; i < length; i += sizeof(Pattern)) std::memcpy(target + i, &pattern, sizeof(Pattern));
}

Status run_fill_buffer(const Record& record, const Execution& execution, Worker&, TileRange tiles) {
  const auto& command = static_cast<const FillBufferRecord&>(record);
  return in_stretches("A fill", execution.limits, tiles, command.target.length, [&](const Stretch& stretch) {
    std::byte* target = command.target.data(execution) + stretch.offset;
    switch (command.pattern_bytes) {
      case 1: std::memset(target, static_cast<uint8_t>(command.pattern), stretch.length); break;
      case 2: fill<uint16_t>(target, stretch.length, command.pattern); break;
      case 4: fill<uint32_t>(target, stretch.length, command.pattern); break;
      default: fill<uint64_t>(target, stretch.length, command.pattern); break;
    }
  });
}

}  // namespace

Status CommandBuffer::fill_buffer(const commands::FillBuffer& command) {
  auto* record = arena().make<FillBufferRecord>(Record{run_fill_buffer}, RecordedBinding::make(command.target),
                                                command.pattern, command.pattern_bytes);
  record->tile_cost = arena().make<MeasuredCost>(transfer_tile_ns(command.target.length));
  record->tile_count = transfer_tiles(command.target.length);
  return append(command, *record);
}

}  // namespace baton::hal::drivers::local
