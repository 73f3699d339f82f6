// Functions of TVM-FFI as their authors write them: nothing here knows of Baton.
#include <tvm/ffi/tvm_ffi.h>

#include <cstdlib>

namespace {

namespace ffi = tvm::ffi;

// y = x + 1, into a tensor of the caller's.
void AddOne(ffi::TensorView x, ffi::TensorView y) {
  if (x.ndim() != 1 || y.ndim() != 1 || x.size(0) != y.size(0)) {
    TVM_FFI_THROW(ValueError) << "add_one takes two vectors of one length";
  }
  const auto* from = static_cast<const float*>(x.data_ptr());
  auto* to = static_cast<float*>(y.data_ptr());
  for (int64_t i = 0; i < x.size(0); ++i) to[i] = from[i] + 1.0f;
}

struct HostMemory {
  void AllocData(DLTensor* tensor) { tensor->data = std::malloc(ffi::GetDataSize(*tensor)); }
  void FreeData(DLTensor* tensor) { std::free(tensor->data); }
};

// The same into a tensor of its own.
ffi::Tensor PlusOne(ffi::Tensor x) {
  ffi::Tensor y = ffi::Tensor::FromNDAlloc(HostMemory(), x.shape(), x.dtype(), x.device());
  AddOne(x, y);
  return y;
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(add_one, AddOne)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(plus_one, PlusOne)
