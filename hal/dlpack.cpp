#include "hal/dlpack.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "hal/allocator.hpp"
#include "hal/queue.hpp"

namespace baton::hal {
namespace {

// ---- Element types --------------------------------------------------------------------------------------------------

struct Code {
  uint8_t code;
  ElementClass element_class;
};
constexpr Code kCodes[] = {{BATON_DL_INT, ElementClass::kInteger},
                           {BATON_DL_UINT, ElementClass::kUnsigned},
                           {BATON_DL_FLOAT, ElementClass::kFloat},
                           {BATON_DL_BFLOAT, ElementClass::kBrainFloat},
                           {BATON_DL_COMPLEX, ElementClass::kComplex}};

// The small floats that DLPack has names for, from its code 7 on, and tensors have not.
constexpr const char* kSmallFloats[] = {"float8_e3m4",     "float8_e4m3",   "float8_e4m3b11fnuz", "float8_e4m3fn",
                                        "float8_e4m3fnuz", "float8_e5m2",   "float8_e5m2fnuz",    "float8_e8m0fnu",
                                        "float6_e2m3fn",   "float6_e3m2fn", "float4_e2m1fn"};
constexpr uint8_t kFirstSmallFloat = 7;

Result<ElementType> element_type_of(const baton_dl_type& type) {
  if (type.lanes == 1 && type.code == BATON_DL_BOOL && type.bits == 8) return ElementType::kI1;
  for (const Code& known : kCodes) {
    if (type.lanes != 1 || known.code != type.code) continue;
    const auto found = static_cast<ElementType>(static_cast<uint32_t>(known.element_class) << 8 | type.bits);
    if (found != ElementType::kI1 && element_type_name(found) != "none") return found;
  }
  if (const size_t small = type.code - size_t{kFirstSmallFloat}; small < std::size(kSmallFloats)) {
    return failure(StatusCode::kUnimplemented, "The DLPack tensor is of ", kSmallFloats[small],
                   ", which no tensor has: give its bits as uint8, or its numbers as float32.");
  }
  return failure(StatusCode::kUnimplemented, "The DLPack tensor has type code ", type.code, " of ", type.bits,
                 " bits and ", type.lanes, " lanes, which no tensor has.");
}

// ---- Import ---------------------------------------------------------------------------------------------------------

// The dense length in bytes.
Result<uint64_t> check_shape(const baton_dl_tensor& tensor, ElementType type) {
  if (tensor.rank < 0 || (tensor.rank > 0 && !tensor.shape)) {
    return failure(StatusCode::kInvalidArgument, "The DLPack tensor has rank ", tensor.rank, " and no shape for it.");
  }
  if (tensor.rank > UINT16_MAX) {
    return failure(StatusCode::kInvalidArgument, "The DLPack tensor has rank ", tensor.rank, "; at most ", UINT16_MAX,
                   " is possible.");
  }
  // In the order in which the view counts, so that it refuses nothing that is let through here.
  uint64_t count = 1;
  for (int32_t i = 0; i < tensor.rank; ++i) {
    const int64_t extent = tensor.shape[i];
    if (extent >= 0 && !__builtin_mul_overflow(count, static_cast<uint64_t>(extent), &count) && count >> 58 == 0)
      continue;
    return failure(StatusCode::kInvalidArgument, "The DLPack tensor has extent ", extent, " in dimension ", i,
                   ", which is negative or more than can be addressed.");
  }
  int64_t stride = 1;
  for (int32_t i = tensor.rank; count > 0 && tensor.strides && i-- > 0; stride *= tensor.shape[i]) {
    if (tensor.shape[i] == 1 || tensor.strides[i] == stride) continue;
    return failure(StatusCode::kUnimplemented, "The DLPack tensor is not dense: its stride ", i, " is ",
                   tensor.strides[i], ", and ", stride, " in row-major order; a contiguous copy of it is.");
  }
  return count * element_bytes(type);
}

// A kernel of a GPU that loads an element from another address ends its context. More than 8 bytes are loaded in parts.
Status check_alignment(uint64_t address, ElementType type, uint64_t length) {
  const uint64_t alignment = std::min<uint64_t>(element_bytes(type), 8);
  if (length == 0 || address % alignment == 0) return {};
  return failure(StatusCode::kUnimplemented, "The DLPack tensor is not aligned: it lies at an address that is ",
                 address % alignment, " beyond a multiple of ", alignment, ", and its elements are ",
                 element_type_name(type), ".");
}

Result<MemoryLocation> location_of(Device& device, const baton_dl_tensor& tensor) {
  const auto data = reinterpret_cast<uintptr_t>(tensor.data);
  MemoryLocation memory{MemorySpace::kNone, tensor.device.id, data ? data + tensor.byte_offset : 0};
  switch (tensor.device.type) {
    // The host's pages cost a device of another kind a bus each time: it takes them only where they were made for that.
    case BATON_DL_CPU:
      if (device.allocator().uses_host_memory()) memory.space = MemorySpace::kHost;
      break;
    case BATON_DL_CUDA: memory.space = MemorySpace::kCuda; break;
    case BATON_DL_CUDA_HOST: memory.space = MemorySpace::kCudaPinned; break;
    case BATON_DL_CUDA_MANAGED: memory.space = MemorySpace::kCudaManaged; break;
    default: break;
  }
  if (memory.space != MemorySpace::kNone) return memory;
  return failure(StatusCode::kUnimplemented, "The DLPack tensor lies on device type ", tensor.device.type,
                 ", whose memory device '", device.name(), "' does not use.");
}

Status check_stream(int64_t stream) {
  if (stream >= kNoStream) return {};
  return failure(StatusCode::kInvalidArgument, "Stream ", stream, " is none; -1 says that there is no stream.");
}

Result<Ref<BufferView>> import_tensor(Device& device, const baton_dl_tensor& tensor, bool read_only, int64_t stream,
                                      ImportRelease release) {
  BATON_TRY_ASSIGN(const MemoryLocation memory, location_of(device, tensor));
  BATON_TRY_ASSIGN(const ElementType type, element_type_of(tensor.type));
  BATON_TRY_ASSIGN(const uint64_t length, check_shape(tensor, type));
  BATON_TRY(check_alignment(memory.address, type, length));
  constexpr BufferUsage kReadOnly = BufferUsage::kTransferSource | BufferUsage::kDispatchRead |
                                    BufferUsage::kIndirectGrid | BufferUsage::kMapping | BufferUsage::kConstant;
  // If the import fails after this, one wait too many does no harm.
  BATON_TRY(check_stream(stream));
  if (stream != kNoStream) BATON_TRY(device.queue().wait_for_stream(static_cast<uint64_t>(stream)));
  // The last thing that can fail: check_shape() is stricter than the view.
  BATON_TRY_ASSIGN(Ref<Buffer> buffer, device.allocator().import_memory(
                                           memory, length, read_only ? kReadOnly : BufferUsage::kAll, release));
  return BufferView::make(std::move(buffer), {tensor.shape, static_cast<size_t>(tensor.rank)}, type);
}

template <typename Managed>
ImportRelease destroy_later(Managed* tensor) {
  return {[](void* data) {
            auto* managed = static_cast<Managed*>(data);
            if (managed->destroy) managed->destroy(managed);
          },
          tensor};
}

// ---- Export ---------------------------------------------------------------------------------------------------------

constexpr size_t kExtentsInPlace = 12;

// What an exported tensor keeps alive.
template <typename Managed>
struct Exported {
  Managed managed{};
  Ref<Device> device;  // Comes after what the consumer has on its stream; null without one.
  uint64_t stream = 0;
  Ref<BufferView> view;
  std::optional<Mapping> mapping;             // Of memory that the host reaches.
  int64_t extents_in_place[kExtentsInPlace];  // The shape, and the strides behind it.
  std::vector<int64_t> more_extents;

  // Room for `count` extents.
  int64_t* extents(size_t count) {
    if (count <= kExtentsInPlace) return extents_in_place;
    more_extents.resize(count);
    return more_extents.data();
  }

  // A stream that cannot be waited for any more has done what it was given, or its device is lost.
  ~Exported() {
    if (!device) return;
    const Status ordered = device->queue().wait_for_stream(stream);
  }
};

Result<baton_dl_device> dl_device_of(const Buffer& buffer) {
  const MemoryLocation memory = buffer.location();
  switch (memory.space) {
    case MemorySpace::kNone: break;
    case MemorySpace::kHost: return baton_dl_device{BATON_DL_CPU, 0};
    case MemorySpace::kCuda: return baton_dl_device{BATON_DL_CUDA, memory.ordinal};
    case MemorySpace::kCudaPinned: return baton_dl_device{BATON_DL_CUDA_HOST, 0};
    case MemorySpace::kCudaManaged: return baton_dl_device{BATON_DL_CUDA_MANAGED, memory.ordinal};
  }
  return failure(StatusCode::kUnimplemented, "A tensor lies in the memory of ", location_name(memory), ".");
}

Status check_consumer(const DlpackConsumer& consumer) {
  BATON_TRY(check_stream(consumer.stream));
  for (const SemaphorePoint& point : consumer.ready) {
    if (consumer.stream != kNoStream || point.semaphore->reached(point.value)) continue;
    return failure(StatusCode::kFailedPrecondition,
                   "A tensor that goes out without a stream is not ready: its semaphore", " has not reached ",
                   point.value, ".");
  }
  return {};
}

Status check_export(Device& device, const Buffer& buffer, const DlpackConsumer& consumer) {
  if (buffer.allocator() != &device.allocator()) {
    return failure(StatusCode::kInvalidArgument, "A tensor to export from device '", device.name(),
                   "' lies in a buffer of another device, in the memory of ", location_name(buffer.location()), ".");
  }
  if (buffer.freed()) return failure(StatusCode::kFailedPrecondition, "Export of a buffer that was freed.");
  return check_consumer(consumer);
}

template <typename Managed>
Result<std::unique_ptr<Exported<Managed>>> export_tensor(Device& device, const Ref<BufferView>& view,
                                                         const DlpackConsumer& consumer) {
  const Buffer& buffer = *view->buffer();
  BATON_TRY(check_export(device, buffer, consumer));
  BATON_TRY_ASSIGN(const baton_dl_type type, dlpack_type(view->element_type()));
  BATON_TRY_ASSIGN(const baton_dl_device place, dl_device_of(buffer));
  auto exported = std::make_unique<Exported<Managed>>();
  exported->view = view;
  const std::span<const int64_t> extents = view->shape();
  int64_t* const shape = exported->extents(2 * extents.size());
  int64_t* const strides = shape + extents.size();
  std::copy(extents.begin(), extents.end(), shape);
  write_dense_strides(extents, strides);
  uint64_t address = buffer.location().address;
  if (place.type != BATON_DL_CUDA) {
    const bool constant = has_all(buffer.usage(), BufferUsage::kConstant);
    const Access access = constant ? Access::kRead : Access::kReadWrite;
    BATON_TRY_ASSIGN(Mapping mapping, view->buffer()->map(access, 0, view->length_bytes()));
    exported->mapping.emplace(std::move(mapping));
    address = reinterpret_cast<uintptr_t>(exported->mapping->bytes().data());
  }
  exported->managed.tensor = {reinterpret_cast<void*>(static_cast<uintptr_t>(address)),
                              place,
                              static_cast<int32_t>(extents.size()),
                              type,
                              shape,
                              strides,
                              0};
  exported->managed.manager = exported.get();
  exported->managed.destroy = [](Managed* self) { delete static_cast<Exported<Managed>*>(self->manager); };
  if (consumer.stream != kNoStream) {
    BATON_TRY(device.queue().hold_stream(static_cast<uint64_t>(consumer.stream), consumer.ready));
    exported->device = Ref<Device>(&device);
    exported->stream = static_cast<uint64_t>(consumer.stream);
  }
  return exported;
}

}  // namespace

Result<baton_dl_type> dlpack_type(ElementType type) {
  baton_dl_type found;
  if (write_dlpack_type(type, found)) return found;
  return failure(StatusCode::kUnimplemented, "DLPack has no type like ", element_type_name(type), ".");
}

Result<Ref<BufferView>> import_dlpack(Device& device, baton_dl_managed_tensor* tensor, int64_t stream) {
  if (tensor->version.major != BATON_DL_MAJOR_VERSION) {
    return failure(StatusCode::kUnimplemented, "The DLPack tensor has version ", tensor->version.major, ".",
                   tensor->version.minor, "; version ", BATON_DL_MAJOR_VERSION, " is understood.");
  }
  const bool read_only = (tensor->flags & BATON_DL_READ_ONLY) != 0;
  return import_tensor(device, tensor->tensor, read_only, stream, destroy_later(tensor));
}

Result<Ref<BufferView>> import_dlpack(Device& device, baton_dl_legacy_tensor* tensor, int64_t stream) {
  return import_tensor(device, tensor->tensor, false, stream, destroy_later(tensor));
}

Result<baton_dl_managed_tensor*> export_dlpack(Device& device, const Ref<BufferView>& view,
                                               const DlpackConsumer& consumer) {
  BATON_TRY_ASSIGN(auto exported, export_tensor<baton_dl_managed_tensor>(device, view, consumer));
  exported->managed.version = {BATON_DL_MAJOR_VERSION, BATON_DL_MINOR_VERSION};
  exported->managed.flags = has_all(view->buffer()->usage(), BufferUsage::kConstant) ? BATON_DL_READ_ONLY : 0;
  return &exported.release()->managed;
}

Result<baton_dl_legacy_tensor*> export_legacy_dlpack(Device& device, const Ref<BufferView>& view,
                                                     const DlpackConsumer& consumer) {
  if (has_all(view->buffer()->usage(), BufferUsage::kConstant)) {
    return failure(StatusCode::kPermissionDenied, "A tensor ", view->type_text(),
                   " is constant, which a DLPack tensor without a version cannot say.");
  }
  BATON_TRY_ASSIGN(auto exported, export_tensor<baton_dl_legacy_tensor>(device, view, consumer));
  return &exported.release()->managed;
}

}  // namespace baton::hal
