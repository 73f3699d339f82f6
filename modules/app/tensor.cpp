#include "modules/app/tensor.hpp"

#include "hal/host_copy.hpp"
#include "hal/uploads.hpp"

namespace baton::app {
namespace {

// As wide, and no other kind of number: i32 is what s32 and u32 are to a program.
bool is_integer(hal::ElementType type) {
  const hal::ElementClass kind = hal::element_class(type);
  return kind == hal::ElementClass::kInteger || kind == hal::ElementClass::kSigned ||
         kind == hal::ElementClass::kUnsigned;
}

}  // namespace

bool same_element(hal::ElementType a, hal::ElementType b) {
  if (a == b) return true;
  constexpr uint32_t kBits = 0xff;
  return is_integer(a) && is_integer(b) && (static_cast<uint32_t>(a) & kBits) == (static_cast<uint32_t>(b) & kBits);
}

Result<Tensor> Tensor::from_bytes(hal::Device& device, hal::ElementType type, Shape shape,
                                  std::span<const std::byte> elements) {
  hal::Uploads uploads(device);
  BATON_TRY_ASSIGN(Ref<hal::BufferView> view, uploads.add(type, shape, elements));
  BATON_TRY_ASSIGN(Ref<hal::Fence> ready, uploads.begin());
  return Tensor(Ref<hal::Device>(&device), std::move(view), std::move(ready));
}

Result<Tensor> Tensor::from_dlpack(hal::Device& device, baton_dl_managed_tensor* tensor, int64_t stream) {
  if (!tensor) return failure(StatusCode::kInvalidArgument, "A DLPack tensor is null.");
  BATON_TRY_ASSIGN(Ref<hal::BufferView> view, hal::import_dlpack(device, tensor, stream));
  return Tensor(Ref<hal::Device>(&device), std::move(view));
}

Result<baton_dl_managed_tensor*> Tensor::to_dlpack(const hal::DlpackConsumer& consumer) const {
  if (!view_) return failure(StatusCode::kFailedPrecondition, "There is no tensor.");
  if (ready_) BATON_TRY(ready_->wait());
  return hal::export_dlpack(*device_, view_, consumer);
}

Result<std::vector<std::byte>> Tensor::copy_bytes() const {
  if (!view_) return failure(StatusCode::kFailedPrecondition, "There is no tensor.");
  std::vector<std::byte> bytes(view_->length_bytes());
  BATON_TRY(copy_bytes_to(element_type(), element_count(), bytes));
  return bytes;
}

Status Tensor::copy_bytes_to(hal::ElementType type, size_t count, std::span<std::byte> target) const {
  if (!view_) return failure(StatusCode::kFailedPrecondition, "There is no tensor.");
  if (same_element(type, element_type()) && count == element_count()) {
    if (ready_) BATON_TRY(ready_->wait());
    return hal::copy_to_host(*device_, view_->buffer(), target);
  }
  return failure(StatusCode::kInvalidArgument, "A tensor ", type_text(), " does not fit into ", count, " elements of ",
                 hal::element_type_name(type), ".");
}

}  // namespace baton::app
