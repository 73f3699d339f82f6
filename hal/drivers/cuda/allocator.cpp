#include "hal/drivers/cuda/allocator.hpp"

namespace baton::hal::drivers::cuda {

Result<Ref<hal::Buffer>> Allocator::do_allocate(const AllocationRequest& request) {
  const bool pinned =
      has_all(request.memory, MemoryKind::kHostVisible) && !has_all(request.memory, MemoryKind::kDeviceLocal);
  auto block = pinned ? memory_->take_pinned(request.length) : memory_->take_device(request.length);
  if (!block.has_value()) return std::move(block).error();
  const Buffer::Description made{this, request.length, request.memory, request.usage};
  return Ref<hal::Buffer>(make_ref<Buffer>(made, memory_, std::move(block).value()));
}

Result<Ref<hal::Buffer>> Allocator::do_import_host(std::span<std::byte> memory, BufferUsage usage,
                                                   ImportRelease release) {
  PrimaryContext& context = memory_->context();
  BATON_TRY(context.check());
  const ContextScope scope = context.enter();
  const Symbols& symbols = context.symbols();
  CUdeviceptr address = 0;
  bool registered = false;
  if (!memory.empty()) {
    const CUresult pinned = symbols.cuMemHostRegister(memory.data(), memory.size(),
                                                      CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    registered = pinned == CUDA_SUCCESS;
    // Pages that are pinned already, by us or by others, are as good.
    if (!registered && pinned != CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) {
      return context.status_of(pinned, "cuMemHostRegister")
          .with_context(text("while importing ", memory.size(), " bytes of host memory"));
    }
    const CUresult mapped = symbols.cuMemHostGetDevicePointer(&address, memory.data(), 0);
    if (mapped != CUDA_SUCCESS) {
      if (registered) symbols.cuMemHostUnregister(memory.data());
      return context.status_of(mapped, "cuMemHostGetDevicePointer")
          .with_context(text("while importing ", memory.size(), " bytes of host memory"));
    }
  }
  const Buffer::Description made{this, memory.size(), MemoryKind::kHostVisible, usage};
  return Ref<hal::Buffer>(make_ref<Buffer>(made, memory_, address, memory.data(), registered, release));
}

Result<Ref<hal::Buffer>> Allocator::import_device(CUdeviceptr address, uint64_t length, BufferUsage usage,
                                                  ImportRelease release) {
  PrimaryContext& context = memory_->context();
  const ContextScope scope = context.enter();
  int device = -1;
  const CUresult asked = context.symbols().cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
  if (asked != CUDA_SUCCESS) {
    return failure(StatusCode::kInvalidArgument, "Imported memory at ", hex(address),
                   " is no memory of a CUDA device.");
  }
  if (device != context.device()) {
    return failure(StatusCode::kInvalidArgument, "Imported memory at ", hex(address), " belongs to CUDA device ",
                   device, "; the buffer is wanted on device ", context.device(), ".");
  }
  const Buffer::Description made{this, length, MemoryKind::kDeviceLocal | MemoryKind::kHostVisible, usage};
  return Ref<hal::Buffer>(make_ref<Buffer>(made, memory_, address, nullptr, false, release));
}

}  // namespace baton::hal::drivers::cuda
