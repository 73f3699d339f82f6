// hal.device.*: what a device knows, and the memory it gives at once.

#include "base/bytes.hpp"
#include "hal/allocator.hpp"
#include "modules/hal_module/constant_buffer.hpp"
#include "modules/hal_module/exports.hpp"
#include "modules/hal_module/memory_request.hpp"

namespace baton::modules::exports::device {

std::tuple<bool, int64_t> query(hal::Device& device, std::string_view category, std::string_view key) {
  const Result<int64_t> answer = device.query(category, key);
  return answer ? std::tuple(true, *answer) : std::tuple(false, int64_t{0});
}

Result<Ref<hal::Buffer>> allocate(hal::Device& device, uint32_t memory, uint32_t usage, int64_t length) {
  BATON_TRY_ASSIGN(const hal::AllocationRequest request, memory_request(memory, usage, length));
  return device.allocator().allocate(request);
}

Result<Ref<hal::Buffer>> constant(hal::Device& device, sdk::Blob& blob, int64_t offset, int64_t length) {
  const std::span<const std::byte> all = blob.bytes();
  if (!range_inside(static_cast<uint64_t>(offset), static_cast<uint64_t>(length), all.size())) {
    return failure(StatusCode::kOutOfRange, "Constant of ", length, " bytes at ", offset, " is not inside its blob (",
                   all.size(), " bytes).");
  }
  const auto bytes = all.subspan(static_cast<size_t>(offset), static_cast<size_t>(length));
  baton_object_retain(&blob);
  return make_constant_buffer(
      device, bytes,
      {[](void* data) { baton_object_release(static_cast<baton_object*>(data)); }, static_cast<baton_object*>(&blob)});
}

}  // namespace baton::modules::exports::device
