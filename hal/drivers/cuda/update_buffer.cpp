// update_buffer on CUDA: on a stream the driver takes the bytes out of the recording at once; for a graph they go to
// the device when it is built, and the node copies them there.

#include "hal/commands/update_buffer.hpp"

#include "hal/device.hpp"
#include "hal/drivers/cuda/command_buffer.hpp"
#include "hal/drivers/cuda/transfer_node.hpp"

namespace baton::hal::drivers::cuda {
namespace {

struct UpdateRecord : Record {
  std::span<const std::byte> source;
  RecordedBinding target;
  Buffer* resident = nullptr;  // The bytes on the device; the recording owns the buffer.
};

CUdeviceptr host_address(const std::byte* bytes) { return reinterpret_cast<CUdeviceptr>(bytes); }

Status issue_update_buffer(Record& record, const Execution& execution) {
  const auto& command = static_cast<const UpdateRecord&>(record);
  return execution.context.status_of(
      execution.symbols().cuMemcpyAsync(command.target.address(execution), host_address(command.source.data()),
                                        command.source.size(), execution.stream.handle()),
      "cuMemcpyAsync");
}

CUDA_MEMCPY3D update_of(const UpdateRecord& command, const Execution& execution) {
  return copy_parameters(command.target.address(execution), command.resident->address(), command.source.size());
}

Status add_update_buffer(Record& record, const Execution& execution, GraphBuilder& builder) {
  auto& command = static_cast<UpdateRecord&>(record);
  if (!command.resident) {
    BATON_TRY_ASSIGN(
        Ref<hal::Buffer> resident,
        execution.device.allocator().allocate(
            {.length = command.source.size(), .memory = MemoryKind::kDeviceLocal, .usage = BufferUsage::kTransfer}));
    auto& buffer = static_cast<Buffer&>(*resident);
    BATON_TRY(execution.memory.copy_now(buffer.address(), host_address(command.source.data()), command.source.size()));
    command.resident = &buffer;
    builder.keep(std::move(resident));
  }
  return add_copy_node(update_of(command, execution), execution, builder);
}

Status patch_update_buffer(Record& record, const Execution& execution, const PatchTarget& target) {
  return patch_copy_node(update_of(static_cast<UpdateRecord&>(record), execution), execution, target.graph,
                         target.nodes[0]);
}

constexpr RecordVerbs kUpdateBuffer = {issue_update_buffer, add_update_buffer, patch_update_buffer};

}  // namespace

Status CommandBuffer::update_buffer(const commands::UpdateBuffer& command) {
  if (command.source.empty()) return leave_out(command);
  auto* record = new (arena().allocate_array<UpdateRecord>(1)) UpdateRecord;
  record->source = arena().copy(command.source);
  record->target = RecordedBinding::make(command.target);
  return append(command, *record, kUpdateBuffer);
}

}  // namespace baton::hal::drivers::cuda
