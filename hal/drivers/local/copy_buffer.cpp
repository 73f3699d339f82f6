// copy_buffer on the host.

#include "hal/commands/copy_buffer.hpp"

#include <cstring>

#include "hal/drivers/local/command_buffer.hpp"
#include "hal/drivers/local/transfer.hpp"

namespace baton::hal::drivers::local {
namespace {

struct CopyBufferRecord : Record {
  RecordedBinding source;
  RecordedBinding target;
};

// memmove: two slots that were filled with the same buffer may overlap, which is wrong but must not be undefined.
Status run_copy_buffer(const Record& record, const Execution& execution, Worker&, TileRange tiles) {
  const auto& command = static_cast<const CopyBufferRecord&>(record);
  return in_stretches("A copy", execution.limits, tiles, command.source.length, [&](const Stretch& stretch) {
    std::memmove(command.target.data(execution) + stretch.offset, command.source.data(execution) + stretch.offset,
                 stretch.length);
  });
}

}  // namespace

Status CommandBuffer::copy_buffer(const commands::CopyBuffer& command) {
  auto* record = arena().make<CopyBufferRecord>(Record{run_copy_buffer}, RecordedBinding::make(command.source),
                                                RecordedBinding::make(command.target));
  record->tile_cost = arena().make<MeasuredCost>(transfer_tile_ns(command.source.length));
  record->tile_count = transfer_tiles(command.source.length);
  return append(command, *record);
}

}  // namespace baton::hal::drivers::local
