// update_buffer on the host: the bytes wait in the recording's arena.

#include "hal/commands/update_buffer.hpp"

#include <cstring>

#include "hal/drivers/local/command_buffer.hpp"
#include "hal/drivers/local/transfer.hpp"

namespace baton::hal::drivers::local {
namespace {

struct UpdateBufferRecord : Record {
  std::span<const std::byte> source;
  RecordedBinding target;
};

Status run_update_buffer(const Record& record, const Execution& execution, Worker&, TileRange) {
  const auto& command = static_cast<const UpdateBufferRecord&>(record);
  if (!command.source.empty())
    std::memcpy(command.target.data(execution), command.source.data(), command.source.size());
  return {};
}

}  // namespace

Status CommandBuffer::update_buffer(const commands::UpdateBuffer& command) {
  auto* record = arena().make<UpdateBufferRecord>(Record{run_update_buffer}, arena().copy(command.source),
                                                  RecordedBinding::make(command.target));
  record->tile_cost = arena().make<MeasuredCost>(transfer_tile_ns(command.source.size()));
  return append(command, *record);
}

}  // namespace baton::hal::drivers::local
