#include "hal/allocator.hpp"

namespace baton::hal {

Result<Ref<Buffer>> Allocator::allocate(const AllocationRequest& request) {
  if (request.length > buffer_bytes_max_) {
    return failure(StatusCode::kResourceExhausted, "A buffer of ", request.length,
                   " bytes exceeds the limit of the device (", buffer_bytes_max_, ").");
  }
  if (has_all(request.usage, BufferUsage::kMapping) && !has_all(request.memory, MemoryKind::kHostVisible)) {
    return failure(StatusCode::kInvalidArgument, "Usage mapping needs memory host_visible; the request says ",
                   memory_kind_names(request.memory), ".");
  }
  return do_allocate(request);
}

Result<Ref<Buffer>> Allocator::import_host(std::span<std::byte> memory, BufferUsage usage, ImportRelease release) {
  if (!memory.data() && !memory.empty()) {
    return failure(StatusCode::kInvalidArgument, "Imported memory of ", memory.size(), " bytes is at a null pointer.");
  }
  return do_import_host(memory, usage, release);
}

}  // namespace baton::hal
