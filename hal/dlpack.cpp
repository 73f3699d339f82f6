#include "hal/dlpack.hpp"

#include <memory>
#include <optional>
#include <vector>

#include "hal/allocator.hpp"

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

Result<ElementType> element_type_of(const baton_dl_type& type) {
  if (type.lanes == 1 && type.code == BATON_DL_BOOL && type.bits == 8) return ElementType::kI1;
  for (const Code& known : kCodes) {
    if (type.lanes != 1 || known.code != type.code) continue;
    const auto found = static_cast<ElementType>(static_cast<uint32_t>(known.element_class) << 8 | type.bits);
    if (found != ElementType::kI1 && element_type_name(found) != "none") return found;
  }
  return failure(StatusCode::kUnimplemented, "The DLPack tensor has type code ", type.code, " of ", type.bits,
                 " bits and ", type.lanes, " lanes, which no tensor has.");
}

Result<baton_dl_type> dl_type_of(ElementType type) {
  if (type == ElementType::kI1) return baton_dl_type{BATON_DL_BOOL, 8, 1};
  const auto bits = static_cast<uint8_t>(element_bytes(type) * 8);
  const ElementClass its = element_class(type) == ElementClass::kSigned ? ElementClass::kInteger : element_class(type);
  for (const Code& known : kCodes) {
    if (known.element_class == its) return baton_dl_type{known.code, bits, 1};
  }
  return failure(StatusCode::kUnimplemented, "DLPack has no type like ", element_type_name(type), ".");
}

// ---- Import ---------------------------------------------------------------------------------------------------------

// The dense length in bytes.
Result<uint64_t> check_shape(const baton_dl_tensor& tensor, ElementType type) {
  if (tensor.rank < 0 || (tensor.rank > 0 && !tensor.shape)) {
    return failure(StatusCode::kInvalidArgument, "The DLPack tensor has rank ", tensor.rank, " and no shape for it.");
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
                   tensor.strides[i], ", and ", stride, " in row-major order.");
  }
  return count * element_bytes(type);
}

Status check_memory(Device& device, const baton_dl_tensor& tensor) {
  const bool is_host = tensor.device.type == BATON_DL_CPU || tensor.device.type == BATON_DL_CUDA_HOST;
  if (is_host && device.allocator().uses_host_memory()) return {};
  return failure(StatusCode::kUnimplemented, "The DLPack tensor lies on device type ", tensor.device.type,
                 ", whose memory device '", device.name(), "' does not use.");
}

Result<Ref<BufferView>> import_tensor(Device& device, const baton_dl_tensor& tensor, bool read_only,
                                      ImportRelease release) {
  BATON_TRY(check_memory(device, tensor));
  BATON_TRY_ASSIGN(const ElementType type, element_type_of(tensor.type));
  BATON_TRY_ASSIGN(const uint64_t length, check_shape(tensor, type));
  constexpr BufferUsage kReadOnly = BufferUsage::kTransferSource | BufferUsage::kDispatchRead |
                                    BufferUsage::kIndirectGrid | BufferUsage::kMapping | BufferUsage::kConstant;
  std::byte* data = tensor.data ? static_cast<std::byte*>(tensor.data) + tensor.byte_offset : nullptr;
  // The last thing that can fail: check_shape() is stricter than the view.
  BATON_TRY_ASSIGN(Ref<Buffer> buffer,
                   device.allocator().import_host({data, static_cast<size_t>(length)},
                                                  read_only ? kReadOnly : BufferUsage::kAll, release));
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

// What an exported tensor keeps alive.
struct Exported {
  baton_dl_managed_tensor managed{};
  Ref<BufferView> view;
  std::optional<Mapping> mapping;
  std::vector<int64_t> shape;
};

}  // namespace

Result<Ref<BufferView>> import_dlpack(Device& device, baton_dl_managed_tensor* tensor) {
  if (tensor->version.major != BATON_DL_MAJOR_VERSION) {
    return failure(StatusCode::kUnimplemented, "The DLPack tensor has version ", tensor->version.major, ".",
                   tensor->version.minor, "; version ", BATON_DL_MAJOR_VERSION, " is understood.");
  }
  return import_tensor(device, tensor->tensor, (tensor->flags & BATON_DL_READ_ONLY) != 0, destroy_later(tensor));
}

Result<Ref<BufferView>> import_dlpack(Device& device, baton_dl_legacy_tensor* tensor) {
  return import_tensor(device, tensor->tensor, false, destroy_later(tensor));
}

Result<baton_dl_managed_tensor*> export_dlpack(const Ref<BufferView>& view) {
  BATON_TRY_ASSIGN(const baton_dl_type type, dl_type_of(view->element_type()));
  auto exported = std::make_unique<Exported>();
  exported->view = view;
  exported->shape.assign(view->shape().begin(), view->shape().end());
  const bool read_only = has_all(view->buffer()->usage(), BufferUsage::kConstant);
  const Access access = read_only ? Access::kRead : Access::kReadWrite;
  BATON_TRY_ASSIGN(Mapping mapping, view->buffer()->map(access, 0, view->length_bytes()));
  exported->mapping.emplace(std::move(mapping));
  baton_dl_managed_tensor& managed = exported->managed;
  managed.version = {BATON_DL_MAJOR_VERSION, BATON_DL_MINOR_VERSION};
  managed.flags = read_only ? BATON_DL_READ_ONLY : 0;
  managed.tensor.data = exported->mapping->bytes().data();
  managed.tensor.device = {BATON_DL_CPU, 0};
  managed.tensor.rank = static_cast<int32_t>(exported->shape.size());
  managed.tensor.type = type;
  managed.tensor.shape = exported->shape.data();
  managed.manager = exported.get();
  managed.destroy = [](baton_dl_managed_tensor* self) { delete static_cast<Exported*>(self->manager); };
  return &exported.release()->managed;
}

}  // namespace baton::hal
