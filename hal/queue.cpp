#include "hal/queue.hpp"

#include "base/bytes.hpp"
#include "hal/allocator.hpp"
#include "hal/commands/all.hpp"
#include "hal/device.hpp"
#include "hal/file.hpp"
#include "hal/recording.hpp"

namespace baton::hal {
namespace {

Status check_order(const Order& order) {
  for (const SemaphorePoint& wait : order.waits) {
    if (!wait.semaphore) return failure(StatusCode::kInvalidArgument, "A wait of the operation has no semaphore.");
  }
  for (const SemaphorePoint& signal : order.signals) {
    if (!signal.semaphore) return failure(StatusCode::kInvalidArgument, "A signal of the operation has no semaphore.");
    if (!signal.semaphore->reached(signal.value)) [[likely]]
      continue;
    return failure(StatusCode::kInvalidArgument, "The operation would signal ", signal.value,
                   ", which its semaphore has reached already.");
  }
  return {};
}

Status check_stream(uint64_t stream) {
  if (stream != 0) return {};
  return failure(StatusCode::kInvalidArgument,
                 "Stream 0 may be the legacy default stream (1) or the thread's own (2); it says not which.");
}

Status check_file_range(std::string_view noun, const BufferRange& range) {
  if (!range.buffer) return failure(StatusCode::kInvalidArgument, noun, " has no buffer.");
  if (range.buffer->freed()) return failure(StatusCode::kFailedPrecondition, noun, " is a buffer that was freed.");
  if (range_inside(range.offset, range_length(range), range.buffer->length())) return {};
  return failure(StatusCode::kOutOfRange, noun, " [", range.offset, ", ", range.offset + range_length(range),
                 ") ends beyond the buffer length (", range.buffer->length(), ").");
}

}  // namespace

Status Queue::execute(const Order& order, Recording& recording, const BindingTable& table) {
  BATON_TRY(check_order(order));
  if (&recording.device() != &device_) [[unlikely]] {
    return failure(StatusCode::kInvalidArgument, "Recording \"", recording.name(), "\" was made for another device.");
  }
  BATON_TRY(check_table(recording, table));
  return do_execute(order, recording, table);
}

Status Queue::named(Status status, const Recording& recording) {
  if (status.ok()) [[likely]]
    return status;
  return std::move(status).with_context(text("while executing recording \"", recording.name(), "\""));
}

Status Queue::check_table(const Recording& recording, const BindingTable& table) const {
  return named(recording.check(table), recording);
}

template <typename Command>
Status Queue::execute_command(const Order& order, const Command& command,
                              Status (*record)(CommandBuffer&, const Command&)) {
  BATON_TRY_ASSIGN(auto commands, device_.make_command_buffer({.name = command_verb(kind_of<Command>)}));
  BATON_TRY(record(*commands, command));
  BATON_TRY_ASSIGN(Ref<Recording> recording, commands->finish());
  return execute(order, *recording);
}

#define QUEUE_COMMAND(Struct, verb)                                                                           \
  Status Queue::verb(const Order& order, const commands::Struct& command) {                                   \
    return execute_command<commands::Struct>(                                                                 \
        order, command, [](CommandBuffer& target, const commands::Struct& one) { return target.verb(one); }); \
  }
QUEUE_COMMAND(FillBuffer, fill_buffer)
QUEUE_COMMAND(UpdateBuffer, update_buffer)
QUEUE_COMMAND(CopyBuffer, copy_buffer)
#undef QUEUE_COMMAND

Result<Ref<Buffer>> Queue::allocate(const Order& order, const AllocationRequest& request) {
  BATON_TRY(check_order(order));
  return do_allocate(order, request);
}

Status Queue::free(const Order& order, Buffer& buffer) {
  BATON_TRY(check_order(order));
  if (&buffer.root() != &buffer) {
    return failure(StatusCode::kInvalidArgument, "A subspan cannot be freed; only the buffer it is a part of.");
  }
  if (buffer.allocator() != &device_.allocator()) {
    return failure(StatusCode::kInvalidArgument, "The buffer to free belongs to another device.");
  }
  if (buffer.is_peer()) {
    return failure(StatusCode::kInvalidArgument, "A peer cannot be freed; only the buffer of the other device, in the ",
                   "memory of ", location_name(buffer.owner().location()), ", that it is a view of.");
  }
  if (!buffer.mark_freed()) {
    return failure(StatusCode::kFailedPrecondition, "The buffer (", buffer.length(), " bytes) was freed before.");
  }
  return do_free(order, buffer);
}

Status Queue::read_file(const Order& order, File& source, uint64_t source_offset, const BufferRange& target) {
  BATON_TRY(check_file_range("File read target", target));
  auto read =
      make_host_function("read_file",
                         [file = Ref<File>(&source), source_offset, buffer = Ref<Buffer>(target.buffer),
                          offset = target.offset, length = range_length(target)](const HostCallArguments&) -> Status {
                           BATON_TRY_ASSIGN(const Mapping mapping, buffer->map(Access::kDiscardWrite, offset, length));
                           return file->read(source_offset, mapping.bytes());
                         });
  return host_call(order, *read);
}

Status Queue::write_file(const Order& order, const BufferRange& source, File& target, uint64_t target_offset) {
  BATON_TRY(check_file_range("File write source", source));
  auto write =
      make_host_function("write_file",
                         [file = Ref<File>(&target), target_offset, buffer = Ref<Buffer>(source.buffer),
                          offset = source.offset, length = range_length(source)](const HostCallArguments&) -> Status {
                           BATON_TRY_ASSIGN(const Mapping mapping, buffer->map(Access::kRead, offset, length));
                           return file->write(target_offset, mapping.bytes());
                         });
  return host_call(order, *write);
}

Status Queue::host_call(const Order& order, HostFunction& function) {
  BATON_TRY(check_order(order));
  return do_host_call(order, function);
}

Status Queue::barrier(const Order& order) {
  BATON_TRY(check_order(order));
  return do_barrier(order);
}

Status Queue::wait_for_stream(uint64_t stream) {
  BATON_TRY(check_stream(stream));
  return do_wait_for_stream(stream);
}

Status Queue::hold_stream(uint64_t stream, std::span<const SemaphorePoint> points) {
  BATON_TRY(check_stream(stream));
  return do_hold_stream(stream, points);
}

Status Queue::do_wait_for_stream(uint64_t) {
  return failure(StatusCode::kUnimplemented, "Device '", device_.name(), "' knows no streams of other libraries.");
}

Status Queue::do_hold_stream(uint64_t stream, std::span<const SemaphorePoint>) { return do_wait_for_stream(stream); }

Status Queue::time_executions(bool) {
  return failure(StatusCode::kUnimplemented, "Device '", device_.name(), "' has no clock.");
}

}  // namespace baton::hal
