// hal.queue.*: operations in the order that fences give. A null fence is nothing to wait for and nothing to signal.
//
// An operation that is refused fails its signal fence like one that fails later, so its waiters get the failure.

#include <algorithm>

#include "base/bytes.hpp"
#include "base/work_limits.hpp"
#include "hal/allocator.hpp"
#include "hal/commands/copy_buffer.hpp"
#include "hal/commands/fill_buffer.hpp"
#include "hal/commands/update_buffer.hpp"
#include "hal/queue.hpp"
#include "hal/transfer.hpp"
#include "modules/hal_module/exports.hpp"
#include "modules/hal_module/memory_request.hpp"
#include "modules/hal_module/stack_list.hpp"

namespace baton::modules::exports::queue {
namespace {

hal::Order order_of(const hal::Fence* wait, const hal::Fence* signal) {
  hal::Order order;
  if (wait) order.waits = wait->points();
  if (signal) order.signals = signal->points();
  return order;
}

// What has been passed stays passed.
[[gnu::cold]] void fail_points(const hal::Fence& fence, const Status& status) {
  for (const hal::SemaphorePoint& point : fence.points()) {
    if (!point.semaphore->reached(point.value)) point.semaphore->fail(status);
  }
}

Status settle(Status status, const hal::Fence* signal) {
  if (!status.ok() && signal) [[unlikely]]
    fail_points(*signal, status);
  return status;
}

// What was left out because the call has to end: the call fails with the sentence that names it. Nobody else would say
// it, because what stopped the work stops the call before it asks its fence.
[[gnu::cold]] Status stopped_work(hal::Device& device, const hal::Fence* signal) {
  return signal ? fence::check(const_cast<hal::Fence*>(signal)) : device.queue().wait_idle(0);
}

Status settle_work(Status status, hal::Device& device, const hal::Fence* signal) {
  WorkLimits* const limits = WorkLimits::current();
  if (limits && limits->take_stopped() && status.ok()) [[unlikely]]
    return stopped_work(device, signal);
  return settle(std::move(status), signal);
}

Result<hal::BufferRange> range_of(std::string_view noun, hal::Buffer& buffer, int64_t offset, int64_t length) {
  if (offset < 0 || length < -1) {
    return failure(StatusCode::kOutOfRange, noun, " of ", length, " bytes at ", offset,
                   " begins before the buffer or has no length; -1 means up to the end.");
  }
  return hal::BufferRange(&buffer, static_cast<uint64_t>(offset), static_cast<uint64_t>(length));
}

Result<Ref<hal::Buffer>> try_allocate(hal::Device& device, const hal::Order& order, uint32_t memory, uint32_t usage,
                                      int64_t length) {
  BATON_TRY_ASSIGN(const hal::AllocationRequest request, memory_request(memory, usage, length));
  return device.queue().allocate(order, request);
}

Status try_execute(hal::Device& device, const hal::Order& order, hal::Recording& recording,
                   const Variadic<std::tuple<hal::Buffer*, int64_t, int64_t>>& table,
                   const Variadic<uint32_t>& constants) {
  if (table.size() > hal::kSlotsMax || constants.size() > hal::kSlotsMax) [[unlikely]] {
    return failure(StatusCode::kInvalidArgument, "A table of ", table.size(), " buffers and ", constants.size(),
                   " constants is given; at most ", hal::kSlotsMax, " of each are possible.");
  }
  StackList<hal::BufferRange, hal::kSlotsMax> buffers;
  for (const auto [buffer, offset, length] : table) {
    if (offset < 0 || length < -1) [[unlikely]] {
      return failure(StatusCode::kOutOfRange, "Slot ", buffers.size(), " is filled with ", length, " bytes at ", offset,
                     ", which begins before the buffer or has no length; -1 means up to the end.");
    }
    buffers.push({buffer, static_cast<uint64_t>(offset), static_cast<uint64_t>(length)});
  }
  StackList<uint32_t, hal::kSlotsMax> words;
  for (uint32_t word : constants) words.push(word);
  return device.queue().execute(order, recording, {buffers.items(), words.items()});
}

}  // namespace

Result<Ref<hal::Buffer>> allocate(hal::Device& device, hal::Fence* wait, hal::Fence* signal, uint32_t memory,
                                  uint32_t usage, int64_t length) {
  auto buffer = try_allocate(device, order_of(wait, signal), memory, usage, length);
  if (!buffer && signal) fail_points(*signal, buffer.error());
  return buffer;
}

Status free(hal::Device& device, hal::Fence* wait, hal::Fence* signal, hal::Buffer& buffer) {
  return settle(device.queue().free(order_of(wait, signal), buffer), signal);
}

Status fill_buffer(hal::Device& device, hal::Fence* wait, hal::Fence* signal, hal::Buffer& target, int64_t offset,
                   int64_t length, int64_t pattern, int32_t pattern_length) {
  const auto enqueue = [&]() -> Status {
    BATON_TRY_ASSIGN(const hal::BufferRange range, range_of("Fill target", target, offset, length));
    return device.queue().fill_buffer(order_of(wait, signal), {.target = range,
                                                               .pattern = static_cast<uint64_t>(pattern),
                                                               .pattern_bytes = static_cast<uint32_t>(pattern_length)});
  };
  return settle_work(enqueue(), device, signal);
}

Status update_buffer(hal::Device& device, hal::Fence* wait, hal::Fence* signal, Bytes source, int64_t source_offset,
                     hal::Buffer& target, int64_t offset, int64_t length) {
  const auto enqueue = [&]() -> Status {
    BATON_TRY_ASSIGN(const hal::BufferRange range, range_of("Update target", target, offset, length));
    const uint64_t size = range_length(range);
    if (source_offset < 0 || !range_inside(static_cast<uint64_t>(source_offset), size, source.size())) {
      return failure(StatusCode::kOutOfRange, "Update source of ", size, " bytes at ", source_offset,
                     " is not inside its blob (", source.size(), " bytes).");
    }
    const Bytes bytes = source.subspan(static_cast<size_t>(source_offset), static_cast<size_t>(size));
    return device.queue().update_buffer(order_of(wait, signal), {.source = bytes, .target = range});
  };
  return settle_work(enqueue(), device, signal);
}

Status copy_buffer(hal::Device& device, hal::Fence* wait, hal::Fence* signal, hal::Buffer& source,
                   int64_t source_offset, int64_t source_length, hal::Buffer& target, int64_t target_offset,
                   int64_t target_length) {
  const auto enqueue = [&]() -> Status {
    BATON_TRY_ASSIGN(const hal::BufferRange from, range_of("Copy source", source, source_offset, source_length));
    BATON_TRY_ASSIGN(const hal::BufferRange to, range_of("Copy target", target, target_offset, target_length));
    return device.queue().copy_buffer(order_of(wait, signal), {.source = from, .target = to});
  };
  return settle_work(enqueue(), device, signal);
}

Status execute(hal::Device& device, hal::Fence* wait, hal::Fence* signal, hal::Recording& recording,
               const Variadic<std::tuple<hal::Buffer*, int64_t, int64_t>>& table, const Variadic<uint32_t>& constants) {
  return settle_work(try_execute(device, order_of(wait, signal), recording, table, constants), device, signal);
}

Status barrier(hal::Device& device, hal::Fence* wait, hal::Fence* signal) {
  return settle(device.queue().barrier(order_of(wait, signal)), signal);
}

Status transfer(hal::Device& source_device, hal::Device& device, hal::Fence* wait, hal::Fence* signal,
                hal::Buffer& source, int64_t source_offset, hal::Buffer& target, int64_t offset, int64_t length) {
  const auto enqueue = [&]() -> Status {
    BATON_TRY_ASSIGN(const hal::BufferRange from, range_of("Transfer source", source, source_offset, length));
    BATON_TRY_ASSIGN(const hal::BufferRange to, range_of("Transfer target", target, offset, length));
    return hal::transfer(order_of(wait, signal), {source_device, from, device, to});
  };
  return settle_work(enqueue(), device, signal);
}

Result<std::tuple<Ref<hal::Buffer>, Ref<hal::Fence>>> take(std::span<const Ref<hal::Device>> devices,
                                                           hal::Device& device, hal::Fence* wait, hal::Buffer& buffer) {
  if (hal::is_of_device(device, buffer)) return std::tuple(Ref<hal::Buffer>(&buffer), Ref<hal::Fence>(wait));
  if (device.allocator().uses_host_memory()) {
    auto peer = device.allocator().import_peer(buffer);
    if (peer.has_value()) return std::tuple(std::move(*peer), Ref<hal::Fence>(wait));
  }
  const auto source =
      std::ranges::find_if(devices, [&](const Ref<hal::Device>& each) { return hal::is_of_device(*each, buffer); });
  if (source == devices.end()) {
    return failure(StatusCode::kInvalidArgument, "A buffer of ", buffer.length(), " bytes in the memory of ",
                   hal::location_name(buffer.location()), " is passed for device '", device.name(),
                   "', and is of none of the program's devices.");
  }
  BATON_TRY_ASSIGN(Ref<hal::Buffer> copy,
                   device.allocator().allocate({.length = buffer.length(), .usage = hal::BufferUsage::kAll}));
  BATON_TRY_ASSIGN(Ref<hal::Fence> done, fence::create(device));
  BATON_TRY(hal::transfer(order_of(wait, done.get()), {**source, buffer, device, copy}));
  return std::tuple(std::move(copy), std::move(done));
}

}  // namespace baton::modules::exports::queue
