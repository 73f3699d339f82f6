// Tensors between programs and functions of TVM-FFI: the same memory, nothing copied.
#pragma once

#include <vector>

#include "hal/buffer_view.hpp"
#include "hal/device.hpp"
#include "modules/tvm_ffi/runtime.hpp"

namespace baton::modules::tvm_ffi {

// A tensor for the time of a call. It may not be moved: the tensor points into it.
class TensorView {
 public:
  TensorView() = default;
  TensorView(const TensorView&) = delete;
  TensorView& operator=(const TensorView&) = delete;

  Status set(const hal::BufferView& view);
  // Memory of a command. `shape` outlives the view.
  Status set(void* data, baton_dl_device place, hal::ElementType element, std::span<const int64_t> shape);

  baton_dl_tensor& tensor() { return tensor_; }
  bool is_on_cuda() const { return tensor_.device.type == BATON_DL_CUDA; }

 private:
  static constexpr size_t kRankInPlace = 6;

  baton_dl_tensor tensor_{};
  int64_t strides_[kRankInPlace];
  std::vector<int64_t> more_strides_;
};

// The same as an object, which a function may keep; `view` (or null) is kept as long. An owned reference.
Result<AnyObject*> make_tensor(const Runtime& runtime, const baton_dl_tensor& tensor, Ref<hal::BufferView> view);

// A tensor that a function gave, owned by the caller, as programs take it. What is on `stream` makes its contents.
Result<Ref<hal::BufferView>> take_tensor(const Runtime& runtime, hal::Device& device, AnyObject* tensor,
                                         int64_t stream);

// The stream that the callers of functions work on now, as DLPack says it: what was set for the device on this thread,
// else the legacy default stream.
int64_t current_stream(const Runtime& runtime, int32_t ordinal);

}  // namespace baton::modules::tvm_ffi
