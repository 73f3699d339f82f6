#include "hal/allocator.hpp"

#include "hal/device.hpp"

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

Result<Ref<Buffer>> Allocator::import_memory(const MemoryLocation& memory, uint64_t length, BufferUsage usage,
                                             ImportRelease release) {
  if (memory.address == 0 && length != 0) {
    return failure(StatusCode::kInvalidArgument, "Imported memory of ", length, " bytes is at a null pointer.");
  }
  return do_import_memory(memory, length, usage, release);
}

Result<Ref<Buffer>> Allocator::import_peer(Buffer& buffer) {
  if (buffer.freed()) return failure(StatusCode::kFailedPrecondition, "Import of a buffer that was freed.");
  if (buffer.allocator() == this) return Ref<Buffer>(&buffer);
  if (buffer.is_peer()) {  // What it is a view of may be at home here.
    const Ref<Buffer>& origin = buffer.root().origin_;
    BATON_TRY_ASSIGN(const Ref<Buffer> part, origin->subspan(buffer.root_offset(), buffer.length()));
    return import_peer(*part);
  }
  BATON_TRY_ASSIGN(Ref<Buffer> peer, do_import_peer(buffer));
  peer->origin_ = Ref<Buffer>(&buffer);
  peer->owners_freed_ = buffer.owners_freed_;
  return peer;
}

Status Allocator::out_of_reach(const MemoryLocation& memory, uint64_t length, BufferUsage usage,
                               std::string_view reason) const {
  return failure(StatusCode::kUnimplemented, "Device '", device_ ? std::string_view(device_->name()) : "unnamed",
                 "' cannot use ", length, " bytes in the memory of ", location_name(memory), " (usage ",
                 usage_names(usage), "): ", reason, ".");
}

Result<Ref<Buffer>> Allocator::do_import_memory(const MemoryLocation& memory, uint64_t length, BufferUsage usage,
                                                ImportRelease release) {
  std::byte* const data = memory.host();
  if (uses_host_memory() && (data || length == 0)) return do_import_host({data, length}, usage, release);
  return out_of_reach(memory, length, usage, "it reaches only what the host can reach");
}

Result<Ref<Buffer>> Allocator::do_import_peer(Buffer& buffer) {
  return do_import_memory(buffer.location(), buffer.length(), buffer.usage(), {});
}

}  // namespace baton::hal
