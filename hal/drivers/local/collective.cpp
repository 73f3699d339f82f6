// collective on the host: alone, every operation is a copy; with others, steps in the memory that they share.

#include "hal/commands/collective.hpp"

#include <cstring>

#include "hal/commands/copy_buffer.hpp"
#include "hal/commands/fill_buffer.hpp"
#include "hal/drivers/local/channel.hpp"
#include "hal/drivers/local/command_buffer.hpp"

namespace baton::hal::drivers::local {
namespace {

struct CollectiveRecord : Record {
  Channel* channel;
  CollectiveWork work;
  RecordedBinding source;
  RecordedBinding target;
};

Status run_collective(const Record& record, const Execution& execution, Worker&, TileRange) {
  const auto& command = static_cast<const CollectiveRecord&>(record);
  CollectiveWork work = command.work;
  if (work.operation != CollectiveOperation::kReceive) work.source = command.source.data(execution);
  if (work.operation != CollectiveOperation::kSend) work.target = command.target.data(execution);
  BATON_TRY_CONTEXT(command.channel->run(work), "in collective ", commands::collective_name(work.operation),
                    " of channel '", command.channel->name(), "', rank ", command.channel->rank(), " of ",
                    command.channel->rank_count());
  return {};
}

}  // namespace

Status CommandBuffer::collective(const commands::Collective& command) {
  // Nobody to permute from: zeros.
  const bool permutes = command.operation == CollectiveOperation::kPermute;
  if (permutes && command.channel->rank_count() == 1 && command.from == kNoRank) {
    return fill_buffer({.target = command.target, .pattern_bytes = 1});
  }
  if (command.channel->rank_count() == 1) return copy_buffer({.source = command.source, .target = command.target});
  auto* record = arena().make<CollectiveRecord>();
  record->run = run_collective;
  record->channel = static_cast<Channel*>(command.channel);
  record->work = {.operation = command.operation,
                  .reduction = command.reduction,
                  .element_type = command.element_type,
                  .root = command.root,
                  .to = command.to,
                  .from = command.from,
                  .source_bytes = command.source.length,
                  .target_bytes = command.target.length};
  if (command.operation != CollectiveOperation::kReceive) record->source = RecordedBinding::make(command.source);
  if (command.operation != CollectiveOperation::kSend) record->target = RecordedBinding::make(command.target);
  recording_->runs_host_code_ = true;  // It waits for others.
  // A phase of its own: all ranks come to their collectives in one order.
  end_phase();
  BATON_TRY(append(command, *record));
  end_phase();
  return {};
}

}  // namespace baton::hal::drivers::local
