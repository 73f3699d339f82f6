#include "modules/tvm_ffi/tensors.hpp"

#include <algorithm>
#include <memory>

#include "hal/dlpack.hpp"

namespace baton::modules::tvm_ffi {
namespace {

constexpr int64_t kLegacyStream = 1;

Result<baton_dl_device> place_of(const hal::MemoryLocation& memory) {
  switch (memory.space) {
    case hal::MemorySpace::kHost: return baton_dl_device{BATON_DL_CPU, 0};
    case hal::MemorySpace::kCuda: return baton_dl_device{BATON_DL_CUDA, memory.ordinal};
    case hal::MemorySpace::kCudaPinned: return baton_dl_device{BATON_DL_CUDA_HOST, 0};
    case hal::MemorySpace::kCudaManaged: return baton_dl_device{BATON_DL_CUDA_MANAGED, memory.ordinal};
    case hal::MemorySpace::kNone: break;
  }
  return failure(StatusCode::kUnimplemented, "A function of TVM-FFI cannot take a tensor that lies in the memory of ",
                 hal::location_name(memory), ".");
}

constexpr size_t kExtentsInPlace = 12;

struct OwnedTensor {
  baton_dl_managed_tensor managed{};
  Ref<hal::BufferView> view;
  int64_t extents_in_place[kExtentsInPlace];  // The shape, and the strides behind it.
  std::vector<int64_t> more_extents;

  void copy_extents(const baton_dl_tensor& tensor) {
    const auto rank = static_cast<size_t>(tensor.rank);
    if (2 * rank > kExtentsInPlace) more_extents.resize(2 * rank);
    int64_t* const extents = 2 * rank > kExtentsInPlace ? more_extents.data() : extents_in_place;
    std::copy(tensor.shape, tensor.shape + rank, extents);
    std::copy(tensor.strides, tensor.strides + rank, extents + rank);
    managed.tensor.shape = extents;
    managed.tensor.strides = extents + rank;
  }
};

}  // namespace

Status TensorView::set(const hal::BufferView& view) {
  const hal::Buffer& buffer = *view.buffer();
  if (view.encoding() != hal::Encoding::kDenseRowMajor) {
    return failure(StatusCode::kInvalidArgument, "A function of TVM-FFI takes tensors whose elements lie row by row.");
  }
  if (buffer.freed()) return failure(StatusCode::kFailedPrecondition, "The buffer of a tensor was freed.");
  const hal::MemoryLocation memory = buffer.location();
  BATON_TRY_ASSIGN(const baton_dl_device place, place_of(memory));
  return set(reinterpret_cast<void*>(static_cast<uintptr_t>(memory.address)), place, view.element_type(), view.shape());
}

Status TensorView::set(void* data, baton_dl_device place, hal::ElementType element, std::span<const int64_t> shape) {
  BATON_TRY_ASSIGN(const baton_dl_type type, hal::dlpack_type(element));
  int64_t* strides = strides_;
  if (shape.size() > kRankInPlace) {
    more_strides_.resize(shape.size());
    strides = more_strides_.data();
  }
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
  tensor_ = {data, place, static_cast<int32_t>(shape.size()), type, const_cast<int64_t*>(shape.data()), strides, 0};
  return {};
}

Result<AnyObject*> make_tensor(const Runtime& runtime, const baton_dl_tensor& tensor, Ref<hal::BufferView> view) {
  auto owned = std::make_unique<OwnedTensor>();
  owned->view = std::move(view);
  const bool constant = owned->view && has_all(owned->view->buffer()->usage(), hal::BufferUsage::kConstant);
  owned->managed = {.version = {BATON_DL_MAJOR_VERSION, BATON_DL_MINOR_VERSION},
                    .manager = owned.get(),
                    .destroy = [](baton_dl_managed_tensor* self) { delete static_cast<OwnedTensor*>(self->manager); },
                    .flags = constant ? BATON_DL_READ_ONLY : 0,
                    .tensor = tensor};
  owned->copy_extents(tensor);
  void* object = nullptr;
  if (const int code = runtime.tensor_from_dlpack(&owned->managed, 0, 0, &object); code != 0) {
    return runtime.take_error(code);
  }
  owned.release();  // The object's now.
  return static_cast<AnyObject*>(object);
}

Result<Ref<hal::BufferView>> take_tensor(const Runtime& runtime, hal::Device& device, AnyObject* tensor,
                                         int64_t stream) {
  baton_dl_managed_tensor* managed = nullptr;
  if (const int code = runtime.tensor_to_dlpack(tensor, &managed); code != 0) return runtime.take_error(code);
  const bool on_cuda = managed->tensor.device.type == BATON_DL_CUDA;
  auto view = hal::import_dlpack(device, managed, on_cuda ? stream : hal::kNoStream);
  if (!view && managed->destroy) managed->destroy(managed);
  return view;
}

int64_t current_stream(const Runtime& runtime, int32_t ordinal) {
  const void* stream = runtime.get_stream(BATON_DL_CUDA, ordinal);
  return stream ? static_cast<int64_t>(reinterpret_cast<intptr_t>(stream)) : kLegacyStream;
}

}  // namespace baton::modules::tvm_ffi
