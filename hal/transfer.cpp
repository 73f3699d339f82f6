#include "hal/transfer.hpp"

#include <cstring>

#include "base/bytes.hpp"
#include "hal/allocator.hpp"
#include "hal/commands/copy_buffer.hpp"
#include "hal/device.hpp"
#include "hal/host_function.hpp"
#include "hal/staging.hpp"

namespace baton::hal {
namespace {

Status check(const Transfer& transfer) {
  const auto check_range = [](std::string_view noun, const BufferRange& range) -> Status {
    if (range.buffer->freed()) return failure(StatusCode::kFailedPrecondition, noun, " is a buffer that was freed.");
    const uint64_t length = range_length(range);
    if (range_inside(range.offset, length, range.buffer->length())) return {};
    return failure(StatusCode::kOutOfRange, noun, " [", range.offset, ", ", range.offset + length,
                   ") ends beyond the buffer length (", range.buffer->length(), ").");
  };
  BATON_TRY(check_range("Transfer source", transfer.source));
  BATON_TRY(check_range("Transfer target", transfer.target));
  const uint64_t from = range_length(transfer.source), to = range_length(transfer.target);
  if (from == to) return {};
  return failure(StatusCode::kInvalidArgument, "Transfer source (", from, " bytes) and target (", to,
                 ") have different lengths.");
}

// The same bytes as a range of `device`; null where it cannot reach them. Why is nobody's business: a driver may refuse to
// pin what another one mapped, and the host moves the bytes then.
Ref<Buffer> reach(Device& device, const BufferRange& range) {
  auto peer = device.allocator().import_peer(*range.buffer);
  return peer.has_value() ? std::move(peer).value() : nullptr;
}

Ref<HostFunction> make_move(const BufferRange& source, const BufferRange& target) {
  return make_host_function(
      "transfer",
      [from = Ref<Buffer>(source.buffer), from_offset = source.offset, to = Ref<Buffer>(target.buffer),
       to_offset = target.offset, length = range_length(source)](const HostCallArguments&) -> Status {
        BATON_TRY_ASSIGN(const Mapping read, from->map(Access::kRead, from_offset, length));
        BATON_TRY_ASSIGN(const Mapping written, to->map(Access::kDiscardWrite, to_offset, length));
        std::memcpy(written.bytes().data(), read.bytes().data(), static_cast<size_t>(length));
        return {};
      });
}

// A point that the next step waits for.
struct Step {
  Ref<Semaphore> semaphore;
  SemaphorePoint point;

  static Result<Step> make(Device& device) {
    BATON_TRY_ASSIGN(Ref<Semaphore> semaphore, device.make_semaphore(0));
    const SemaphorePoint point(semaphore, 1);
    return Step{std::move(semaphore), point};
  }
};

// The host moves what both have where it sees it.
Status through_host(const Order& order, const Transfer& transfer) {
  const uint64_t length = range_length(transfer.source);
  BufferRange from = transfer.source, to = transfer.target;
  Order move_order = order;
  Ref<Buffer> out, in;
  Step arrived, moved;
  if (!can_map(*from.buffer)) {
    BATON_TRY_ASSIGN(out, make_staging(transfer.source_device, length));
    BATON_TRY_ASSIGN(arrived, Step::make(transfer.source_device));
    from = BufferRange(out);
    const Order copy_order{.waits = order.waits, .signals = {&arrived.point, 1}};
    BATON_TRY(transfer.source_device.queue().copy_buffer(
        copy_order, {.source = BufferRange(transfer.source.buffer, transfer.source.offset, length), .target = from}));
    move_order.waits = {&arrived.point, 1};
  }
  const bool writes_target = can_map(*to.buffer) && !has_all(to.buffer->usage(), BufferUsage::kConstant);
  if (!writes_target) {
    BATON_TRY_ASSIGN(in, make_staging(transfer.target_device, length));
    BATON_TRY_ASSIGN(moved, Step::make(transfer.target_device));
    to = BufferRange(in);
    move_order.signals = {&moved.point, 1};
  }
  BATON_TRY(transfer.target_device.queue().host_call(move_order, *make_move(from, to)));
  if (writes_target) return {};
  const Order copy_order{.waits = {&moved.point, 1}, .signals = order.signals};
  return transfer.target_device.queue().copy_buffer(
      copy_order, {.source = to, .target = BufferRange(transfer.target.buffer, transfer.target.offset, length)});
}

}  // namespace

bool is_of_device(const Device& device, const Buffer& buffer) {
  return buffer.allocator() == &const_cast<Device&>(device).allocator();
}

Status transfer(const Order& order, const Transfer& transfer) {
  BATON_TRY(check(transfer));
  Device& to = transfer.target_device;
  const uint64_t length = range_length(transfer.source);
  if (length == 0) return to.queue().barrier(order);
  const BufferRange source(transfer.source.buffer, transfer.source.offset, length);
  const BufferRange target(transfer.target.buffer, transfer.target.offset, length);
  if (const Ref<Buffer> reached = reach(to, source)) {
    return to.queue().copy_buffer(order,
                                  {.source = BufferRange(reached.get(), source.offset, length), .target = target});
  }
  if (const Ref<Buffer> met = reach(transfer.source_device, target)) {
    return transfer.source_device.queue().copy_buffer(
        order, {.source = source, .target = BufferRange(met.get(), target.offset, length)});
  }
  return through_host(order, transfer);
}

}  // namespace baton::hal
