// copy_buffer on CUDA: a copy between any memories the device sees; the driver finds out which they are.

#include "hal/commands/copy_buffer.hpp"

#include "hal/drivers/cuda/command_buffer.hpp"
#include "hal/drivers/cuda/transfer_node.hpp"

namespace baton::hal::drivers::cuda {
namespace {

struct CopyRecord : Record {
  RecordedBinding source;
  RecordedBinding target;
};

CUDA_MEMCPY3D copy_of(const Record& record, const Execution& execution) {
  const auto& command = static_cast<const CopyRecord&>(record);
  return copy_parameters(command.target.address(execution), command.source.address(execution), command.source.length);
}

Status issue_copy_buffer(Record& record, const Execution& execution) {
  const auto& command = static_cast<const CopyRecord&>(record);
  return execution.context.status_of(
      execution.symbols().cuMemcpyAsync(command.target.address(execution), command.source.address(execution),
                                        command.source.length, execution.stream.handle()),
      "cuMemcpyAsync");
}

Status add_copy_buffer(Record& record, const Execution& execution, GraphBuilder& builder) {
  return add_copy_node(copy_of(record, execution), execution, builder);
}

Status patch_copy_buffer(Record& record, const Execution& execution, const PatchTarget& target) {
  return patch_copy_node(copy_of(record, execution), execution, target.graph, target.nodes[0]);
}

constexpr RecordVerbs kCopyBuffer = {issue_copy_buffer, add_copy_buffer, patch_copy_buffer};

}  // namespace

Status CommandBuffer::copy_buffer(const commands::CopyBuffer& command) {
  if (command.source.length == 0) return leave_out(command);
  auto* record = new (arena().allocate_array<CopyRecord>(1)) CopyRecord;
  record->source = RecordedBinding::make(command.source);
  record->target = RecordedBinding::make(command.target);
  return append(command, *record, kCopyBuffer);
}

}  // namespace baton::hal::drivers::cuda
