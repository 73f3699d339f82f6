#include "modules/tvm_ffi/tensors.hpp"

#include <algorithm>

#include "hal/allocator.hpp"
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

// What the view has stays with it: its shape, its strides.
void fill(const hal::BufferView& view, uint64_t address, baton_dl_device place, baton_dl_type type,
          baton_dl_tensor& out) {
  const std::span<const int64_t> shape = view.shape();
  out = {reinterpret_cast<void*>(static_cast<uintptr_t>(address)),
         place,
         static_cast<int32_t>(shape.size()),
         type,
         const_cast<int64_t*>(shape.data()),
         const_cast<int64_t*>(view.dense_strides().data()),
         0};
}

// The view is pointed to.
Status describe(const hal::BufferView& view, baton_dl_tensor& out) {
  const hal::Buffer& buffer = *view.buffer();
  if (view.encoding() != hal::Encoding::kDenseRowMajor) [[unlikely]] {
    return failure(StatusCode::kInvalidArgument, "A function of TVM-FFI takes tensors whose elements lie row by row.");
  }
  if (buffer.freed()) [[unlikely]]
    return failure(StatusCode::kFailedPrecondition, "The buffer of a tensor was freed.");
  const hal::MemoryLocation memory = buffer.location();
  BATON_TRY_ASSIGN(const baton_dl_device place, place_of(memory));
  BATON_TRY_ASSIGN(const baton_dl_type type, hal::dlpack_type(view.element_type()));
  fill(view, memory.address, place, type, out);
  return {};
}

}  // namespace

// ---- For a call -----------------------------------------------------------------------------------------------------

// The same as describe() for what most tensors are: dense ones of the host.
bool describe_on_host(const hal::BufferView& view, baton_dl_tensor& out) {
  const hal::Buffer& buffer = *view.buffer();
  baton_dl_type type;
  if (view.encoding() != hal::Encoding::kDenseRowMajor || buffer.freed() ||
      !hal::write_dlpack_type(view.element_type(), type)) [[unlikely]]
    return false;
  const hal::MemoryLocation memory = buffer.location();
  if (memory.space != hal::MemorySpace::kHost) [[unlikely]]
    return false;
  fill(view, memory.address, {BATON_DL_CPU, 0}, type, out);
  return true;
}

Status TensorView::set(const hal::BufferView& view) { return describe(view, tensor_); }

Status TensorView::set(void* data, baton_dl_device place, hal::ElementType element, std::span<const int64_t> shape) {
  BATON_TRY_ASSIGN(const baton_dl_type type, hal::dlpack_type(element));
  int64_t* const strides = strides_.room(shape.size());
  hal::write_dense_strides(shape, strides);
  tensor_ = {data, place, static_cast<int32_t>(shape.size()), type, const_cast<int64_t*>(shape.data()), strides, 0};
  return {};
}

// ---- To keep --------------------------------------------------------------------------------------------------------

Result<AnyObject*> TensorObject::make(Ref<hal::BufferView> view) {
  auto* made = new TensorObject;
  if (Status status = made->set(*view); !status.ok()) {
    delete made;
    return status;
  }
  made->keep(std::move(view));
  return made->object();
}

AnyObject* TensorObject::copy(const baton_dl_tensor& from) {
  auto* made = new TensorObject;
  const auto rank = static_cast<size_t>(from.rank);
  int64_t* const extents = made->extents_.room(2 * rank);
  std::copy(from.shape, from.shape + rank, extents);
  std::copy(from.strides, from.strides + rank, extents + rank);
  made->tensor = from;
  made->tensor.shape = extents;
  made->tensor.strides = extents + rank;
  return made->object();
}

hal::BufferView* TensorObject::view_of(AnyObject* object) {
  return object->destroy == destroy ? of(object)->view_ : nullptr;
}

void TensorObject::destroy(void* self, int flags) {
  TensorObject* const gone = of(self);
  if ((flags & kDestroyObject) && gone->keeps_view_) gone->view_->release();
  if (flags & kFreeObject) delete gone;
}

Status TensorObject::set(hal::BufferView& view) {
  view_ = &view;
  if (describe_on_host(view, tensor)) [[likely]]
    return {};
  return describe(view, tensor);
}

void TensorObject::keep(Ref<hal::BufferView> view) {
  view_ = view.detach();
  keeps_view_ = true;
}

SpareTensors::~SpareTensors() {
  while (first_) delete std::exchange(first_, first_->next_);
}

TensorObject* LentTensors::take_spare() {
  if (!lent_) has_spares_ = spares_.enter();
  if (!has_spares_ || !spares_.first_) return new TensorObject;
  return std::exchange(spares_.first_, spares_.first_->next_);
}

Result<TensorObject*> LentTensors::lend(hal::BufferView& view) {
  TensorObject* const tensor = take_spare();
  tensor->next_ = std::exchange(lent_, tensor);
  BATON_TRY(tensor->set(view));
  return tensor;
}

// One that has another owner by now keeps its view, before this reference to it goes.
void LentTensors::take_back() {
  while (lent_) {
    TensorObject* const tensor = std::exchange(lent_, lent_->next_);
    const bool kept = __atomic_load_n(&tensor->head.counts, __ATOMIC_ACQUIRE) != kOneOwner;
    if (kept) {
      tensor->keep(Ref<hal::BufferView>(tensor->view_));
      runtime_.release(tensor->object());
    } else if (has_spares_) {
      tensor->next_ = std::exchange(spares_.first_, tensor);
    } else {
      delete tensor;
    }
  }
  if (has_spares_) spares_.leave();
}

Result<Ref<hal::BufferView>> take_tensor(const Runtime& runtime, hal::Device& device, AnyObject* tensor,
                                         int64_t stream) {
  if (hal::BufferView* ours = TensorObject::view_of(tensor); ours && ours->buffer()->allocator()->device() == &device) {
    return Ref<hal::BufferView>(ours);
  }
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
