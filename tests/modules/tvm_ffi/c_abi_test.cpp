// Goal: what we declare of TVM-FFI's interface is what its own headers say.
#include "modules/tvm_ffi/c_abi.hpp"

#include <gtest/gtest.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

namespace baton::modules::tvm_ffi {
namespace {

#define SAME_FIELD(Ours, our_field, Theirs, their_field)                      \
  static_assert(offsetof(Ours, our_field) == offsetof(Theirs, their_field) && \
                sizeof(Ours::our_field) == sizeof(Theirs::their_field))

static_assert(sizeof(Any) == sizeof(TVMFFIAny) && sizeof(AnyObject) == sizeof(TVMFFIObject));
SAME_FIELD(Any, type_index, TVMFFIAny, type_index);
SAME_FIELD(Any, small_size, TVMFFIAny, small_str_len);
SAME_FIELD(Any, integer, TVMFFIAny, v_int64);
SAME_FIELD(Any, device, TVMFFIAny, v_device);
SAME_FIELD(AnyObject, counts, TVMFFIObject, combined_ref_count);
SAME_FIELD(AnyObject, type_index, TVMFFIObject, type_index);
SAME_FIELD(AnyObject, destroy, TVMFFIObject, deleter);
SAME_FIELD(ByteArray, size, TVMFFIByteArray, size);
SAME_FIELD(ErrorCell, kind, TVMFFIErrorCell, kind);
SAME_FIELD(ErrorCell, message, TVMFFIErrorCell, message);
SAME_FIELD(ErrorCell, backtrace, TVMFFIErrorCell, backtrace);
SAME_FIELD(ErrorCell, context, TVMFFIErrorCell, extra_context);
SAME_FIELD(ArrayCell, data, TVMFFISeqCell, data);
SAME_FIELD(ArrayCell, size, TVMFFISeqCell, size);
SAME_FIELD(FunctionCell, call, TVMFFIFunctionCell, safe_call);
static_assert(offsetof(TensorCell, tensor) == sizeof(TVMFFIObject));  // TVMFFITensorGetDLTensorPtr
SAME_FIELD(baton_dl_tensor, data, DLTensor, data);
SAME_FIELD(baton_dl_tensor, device, DLTensor, device);
SAME_FIELD(baton_dl_tensor, rank, DLTensor, ndim);
SAME_FIELD(baton_dl_tensor, type, DLTensor, dtype);
SAME_FIELD(baton_dl_tensor, shape, DLTensor, shape);
SAME_FIELD(baton_dl_tensor, strides, DLTensor, strides);
SAME_FIELD(baton_dl_managed_tensor, manager, DLManagedTensorVersioned, manager_ctx);
SAME_FIELD(baton_dl_managed_tensor, destroy, DLManagedTensorVersioned, deleter);
SAME_FIELD(baton_dl_managed_tensor, flags, DLManagedTensorVersioned, flags);
SAME_FIELD(baton_dl_managed_tensor, tensor, DLManagedTensorVersioned, dl_tensor);

static_assert(kDestroyObject == kTVMFFIObjectDeleterFlagBitMaskStrong &&
              kFreeObject == kTVMFFIObjectDeleterFlagBitMaskWeak);
static_assert(int{kNone} == int{kTVMFFINone} && int{kInt} == int{kTVMFFIInt} && int{kBool} == int{kTVMFFIBool});
static_assert(int{kFloat} == int{kTVMFFIFloat} && int{kDataType} == int{kTVMFFIDataType});
static_assert(int{kDevice} == int{kTVMFFIDevice} && int{kTensorView} == int{kTVMFFIDLTensorPtr});
static_assert(int{kRawText} == int{kTVMFFIRawStr} && int{kByteArrayPtr} == int{kTVMFFIByteArrayPtr});
static_assert(int{kSmallText} == int{kTVMFFISmallStr} && int{kSmallBytes} == int{kTVMFFISmallBytes});
static_assert(int{kObjectBegin} == int{kTVMFFIStaticObjectBegin} && int{kText} == int{kTVMFFIStr});
static_assert(int{kBytes} == int{kTVMFFIBytes} && int{kError} == int{kTVMFFIError});
static_assert(int{kFunction} == int{kTVMFFIFunction} && int{kTensor} == int{kTVMFFITensor});
static_assert(int{kOpaquePointer} == int{kTVMFFIOpaquePtr} && int{kMovable} == int{kTVMFFIObjectRValueRef});
static_assert(int{kShape} == int{kTVMFFIShape} && int{kMap} == int{kTVMFFIMap});
static_assert(int{kArray} == int{kTVMFFIArray} && int{kModule} == int{kTVMFFIModule});

// Parameter for parameter, but for pointers, which C takes as they are.
template <typename T>
struct Plain {
  using type = T;
};
template <typename T>
requires std::is_pointer_v<T>
struct Plain<T> {
  using type = void*;
};
template <typename T>
requires std::is_enum_v<T>
struct Plain<T> {
  using type = std::underlying_type_t<T>;
};
template <typename F>
struct Shape;
template <typename R, typename... P>
struct Shape<R (*)(P...)> {
  using type = typename Plain<R>::type (*)(typename Plain<P>::type...);
};

#define FUNCTION(member, symbol, result, ...) \
  static_assert(std::is_same_v<Shape<result (*)(__VA_ARGS__)>::type, Shape<decltype(&::symbol)>::type>, #symbol);
#include "modules/tvm_ffi/symbols.inc"
#undef FUNCTION

TEST(CAbiTest, IsTheirs) {
  TVMFFIVersion version;
  TVMFFIGetVersion(&version);
  EXPECT_EQ(version.major, 0u);
  EXPECT_EQ(version.minor, 1u);
}

}  // namespace
}  // namespace baton::modules::tvm_ffi
