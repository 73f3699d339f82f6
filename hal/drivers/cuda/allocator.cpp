#include "hal/drivers/cuda/allocator.hpp"

#include "hal/drivers/cuda/pinned_pages.hpp"

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
  return import_pages(memory, memory, usage, release);
}

Result<Ref<hal::Buffer>> Allocator::import_pages(std::span<std::byte> pages, std::span<std::byte> part,
                                                 BufferUsage usage, ImportRelease release) {
  PrimaryContext& context = memory_->context();
  BATON_TRY(context.check());
  const ContextScope scope = context.enter();
  const Symbols& symbols = context.symbols();
  CUdeviceptr address = 0;
  bool registered = false;
  if (!part.empty()) {
    PinnedPages& pinned_pages = PinnedPages::of_process();
    const auto failed = [&](CUresult result, const char* call) {
      return context.status_of(result, call)
          .with_context(text("while importing ", part.size(), " bytes of host memory"));
    };
    const CUresult pinned = pinned_pages.pin(symbols, pages, registered);
    if (pinned != CUDA_SUCCESS) return failed(pinned, "cuMemHostRegister");
    const CUresult mapped = symbols.cuMemHostGetDevicePointer(&address, part.data(), 0);
    if (mapped != CUDA_SUCCESS) {
      if (registered) pinned_pages.unpin(symbols, pages);
      return failed(mapped, "cuMemHostGetDevicePointer");
    }
  }
  const Buffer::Description made{this, part.size(), MemoryKind::kHostVisible, usage};
  return Ref<hal::Buffer>(make_ref<Buffer>(made, memory_, address, part.data(), registered, release));
}

Result<int> Allocator::ask_pointer(CUpointer_attribute what, CUdeviceptr address) const {
  PrimaryContext& context = memory_->context();
  const ContextScope scope = context.enter();
  int answer = -1;
  if (context.symbols().cuPointerGetAttribute(&answer, what, address) == CUDA_SUCCESS) return answer;
  return failure(StatusCode::kInvalidArgument, "Imported memory at ", hex(address), " is no memory of a CUDA device.");
}

Result<Ref<hal::Buffer>> Allocator::import_device(CUdeviceptr address, uint64_t length, BufferUsage usage,
                                                  ImportRelease release) {
  const int own = memory_->context().device();
  BATON_TRY_ASSIGN(const int device, ask_pointer(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
  if (device != own) {
    return failure(StatusCode::kInvalidArgument, "Imported memory at ", hex(address), " belongs to CUDA device ",
                   device, "; the buffer is wanted on device ", own, ".");
  }
  const Buffer::Description made{this, length, MemoryKind::kDeviceLocal | MemoryKind::kHostVisible, usage};
  return Ref<hal::Buffer>(make_ref<Buffer>(made, memory_, address, nullptr, false, release));
}

Result<Ref<hal::Buffer>> Allocator::import_pinned(const MemoryLocation& memory, uint64_t length, BufferUsage usage,
                                                  ImportRelease release) {
  PrimaryContext& context = memory_->context();
  const ContextScope scope = context.enter();
  CUdeviceptr address = 0;
  const CUresult mapped = context.symbols().cuMemHostGetDevicePointer(&address, memory.host(), 0);
  if (mapped != CUDA_SUCCESS) {
    return context.status_of(mapped, "cuMemHostGetDevicePointer")
        .with_context(text("while importing ", length, " bytes of pinned host memory"));
  }
  const Buffer::Description made{this, length, MemoryKind::kHostVisible, usage};
  return Ref<hal::Buffer>(make_ref<Buffer>(made, memory_, address, memory.host(), false, release));
}

Result<Ref<hal::Buffer>> Allocator::do_import_memory(const MemoryLocation& memory, uint64_t length, BufferUsage usage,
                                                     ImportRelease release) {
  BATON_TRY(memory_->context().check());
  const auto address = static_cast<CUdeviceptr>(memory.address);
  if (length == 0) return do_import_host({}, usage, release);
  switch (memory.space) {
    case MemorySpace::kNone: break;
    case MemorySpace::kHost: return do_import_host({memory.host(), static_cast<size_t>(length)}, usage, release);
    case MemorySpace::kCudaPinned: return import_pinned(memory, length, usage, release);
    case MemorySpace::kCuda:
      if (memory.ordinal == memory_->context().device()) return import_device(address, length, usage, release);
      break;
    case MemorySpace::kCudaManaged: {
      BATON_TRY_ASSIGN(const int managed, ask_pointer(CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
      if (!managed) return failure(StatusCode::kInvalidArgument, "Memory at ", hex(address), " is not managed.");
      const Buffer::Description made{this, length, MemoryKind::kDeviceLocal | MemoryKind::kHostVisible, usage};
      return Ref<hal::Buffer>(make_ref<Buffer>(made, memory_, address, nullptr, false, release));
    }
  }
  return out_of_reach(memory, length, usage, text("it is CUDA device ", memory_->context().device()));
}

Result<Ref<hal::Buffer>> Allocator::do_import_peer(hal::Buffer& buffer) {
  auto* other = dynamic_cast<Buffer*>(&buffer);
  if (!other) {
    const MemoryLocation at = buffer.location();
    if (std::byte* const whole = buffer.root().location().host()) {  // All of it: other parts may come, too.
      return import_pages({whole, static_cast<size_t>(buffer.root().length())},
                          {whole + buffer.root_offset(), static_cast<size_t>(buffer.length())}, buffer.usage(), {});
    }
    return out_of_reach(at, buffer.length(), buffer.usage(), "it reaches only CUDA devices and the host");
  }
  if (!other->host()) {  // Pinned memory is everyone's.
    BATON_TRY_ASSIGN(const bool open, other->pool().open_to(memory_->shared_context()));
    if (!open) {
      return out_of_reach(other->location(), buffer.length(), buffer.usage(),
                          text("CUDA device ", memory_->context().device(), " has no peer access to it"));
    }
  }
  const Buffer::Description made{this, buffer.length(), buffer.memory(), buffer.usage()};
  return Ref<hal::Buffer>(make_ref<Buffer>(made, memory_, other->address(), other->host(), false, ImportRelease{}));
}

}  // namespace baton::hal::drivers::cuda
