// Functions of TVM-FFI for tests: what comes in goes out in a form that a test can look at.
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

namespace {

namespace ffi = tvm::ffi;

struct HostMemory {
  void AllocData(DLTensor* tensor) { tensor->data = std::malloc(ffi::GetDataSize(*tensor)); }
  void FreeData(DLTensor* tensor) { std::free(tensor->data); }
};

int64_t CallBack(int64_t x) { return ffi::Function::GetGlobalRequired("baton_test.back")(x).cast<int64_t>(); }
int64_t AddNumbers(int64_t a, int64_t b) { return a + b; }
double Half(double x) { return x / 2; }
bool IsOdd(int64_t x) { return x % 2 != 0; }
ffi::String Greet(ffi::String name) { return "Hello, " + std::string(name) + "!"; }
int64_t SumOfBytes(ffi::Bytes bytes) {
  int64_t sum = 0;
  for (size_t i = 0; i < bytes.size(); ++i) sum += static_cast<uint8_t>(bytes.data()[i]);
  return sum;
}
void Twice(ffi::TensorView x, ffi::TensorView y) {
  for (int64_t i = 0; i < x.numel(); ++i)
    static_cast<float*>(y.data_ptr())[i] = 2 * static_cast<float*>(x.data_ptr())[i];
}
// The address and the shape of what came, so that a test sees that nothing was copied.
int64_t AddressOf(ffi::TensorView x) { return reinterpret_cast<int64_t>(x.data_ptr()); }
int64_t DescribeShape(ffi::TensorView x) {
  int64_t text = x.ndim();
  for (int32_t i = 0; i < x.ndim(); ++i) text = text * 100 + x.size(i);
  return text;
}
int64_t DescribeType(ffi::TensorView x) { return x.dtype().code * 100 + x.dtype().bits; }
ffi::Tensor Same(ffi::Tensor x) { return x; }
ffi::Tensor Filled(int64_t count, double value) {
  ffi::Tensor made =
      ffi::Tensor::FromNDAlloc(HostMemory(), ffi::Shape({count}), DLDataType{kDLFloat, 32, 1}, DLDevice{kDLCPU, 0});
  for (int64_t i = 0; i < count; ++i) static_cast<float*>(made.data_ptr())[i] = static_cast<float>(value);
  return made;
}
ffi::Tensor FilledLike(ffi::TensorView like, double value) { return Filled(like.numel(), value); }
ffi::Array<ffi::Any> Pair(int64_t x) { return {ffi::Any(x), ffi::Any(static_cast<double>(x) / 2)}; }
ffi::Any Nothing(ffi::Any) { return nullptr; }
ffi::Any Keep(ffi::Any x) { return x; }
// One of each kind of value: in place, and objects.
int kPlace = 0;
ffi::Any Sample(int64_t which) {
  switch (which) {
    case 0: return int64_t{1} << 40;
    case 1: return true;
    case 2: return 0.5;
    case 3: return ffi::String("");
    case 4: return ffi::String("seven b");
    case 5: return ffi::String("eight by");
    case 6: return ffi::Bytes("a\0b", 3);
    case 7: return ffi::Bytes("more than seven bytes");
    case 8: return DLDataType{kDLFloat, 16, 1};
    case 9: return DLDevice{kDLCUDA, 3};
    case 10: return static_cast<void*>(&kPlace);
    case 11: return ffi::Shape({2, 3});
    case 12: return ffi::Array<int64_t>{1, 2};
    case 13: return ffi::Map<ffi::String, int64_t>{{"a", 1}};
    case 14: return ffi::Function::FromTyped([](int64_t x) { return x + 1; });
    default: return nullptr;
  }
}
// Of the same type, and of the same content where it is in place or text.
bool IsSample(int64_t which, ffi::AnyView value) {
  const ffi::Any wanted = Sample(which);
  if (value.type_index() != wanted.type_index()) return false;
  if (auto text = wanted.try_cast<ffi::String>()) return value.cast<ffi::String>() == *text;
  if (auto bytes = wanted.try_cast<ffi::Bytes>()) {
    const ffi::Bytes given = value.cast<ffi::Bytes>();
    return given.size() == bytes->size() && std::memcmp(given.data(), bytes->data(), given.size()) == 0;
  }
  if (value.type_index() >= kTVMFFIStaticObjectBegin) return true;
  return value.CopyToTVMFFIAny().v_int64 == ffi::AnyView(wanted).CopyToTVMFFIAny().v_int64;
}
// As a command: writes whether it is.
void NoteSample(ffi::TensorView x, int64_t which, ffi::AnyView value) {
  static_cast<float*>(x.data_ptr())[0] = IsSample(which, value) ? 1.0f : -1.0f;
}
// Kept beyond the call.
ffi::Tensor& kept() {
  static ffi::Tensor tensor;
  return tensor;
}
void KeepTensor(ffi::Tensor x) { kept() = std::move(x); }
double KeptSum() {
  double sum = 0;
  for (int64_t i = 0; i < kept().numel(); ++i) sum += static_cast<float*>(kept().data_ptr())[i];
  kept() = ffi::Tensor();
  return sum;
}
void Fail(int64_t kind) {
  if (kind == 0) TVM_FFI_THROW(ValueError) << "the number is 0";
  if (kind == 1) TVM_FFI_THROW(IndexError) << "the number is 1";
  TVM_FFI_THROW(RuntimeError) << "the number is " << kind;
}
void Throw(int64_t kind) {
  if (kind == 0) throw std::runtime_error("a runtime error");
  if (kind == 1) throw "a literal";
  if (kind == 2) throw std::string("a string");
  if (kind == 3) throw 5;
  try {
    throw 5;
  } catch (...) {
    std::throw_with_nested(std::logic_error("what holds another"));
  }
}
void ThrowLater(ffi::TensorView, int64_t kind) { Throw(kind); }
// What the environment's stream is, seen through the memory of the tensor: on a GPU that is faked nobody writes there.
int64_t& seen_stream() {
  static int64_t stream = 0;
  return stream;
}
int64_t& noted_calls() {
  static int64_t calls = 0;
  return calls;
}
// A driver's function, which the test gives, so that there is work on the stream.
using Fill = int (*)(uint64_t address, unsigned value, size_t count, void* stream);
Fill& fill() {
  static Fill function = nullptr;
  return function;
}
void SetFill(int64_t function) { fill() = reinterpret_cast<Fill>(function); }
void NoteStream(ffi::TensorView x) {
  ++noted_calls();
  void* stream = TVMFFIEnvGetStream(x.device().device_type, x.device().device_id);
  seen_stream() = reinterpret_cast<int64_t>(stream);
  if (fill()) fill()(reinterpret_cast<uint64_t>(x.data_ptr()), 7, 1, stream);
}
int64_t SeenStream() { return seen_stream(); }
int64_t NotedCalls() { return noted_calls(); }

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(call_back, CallBack)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(add_numbers, AddNumbers)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(half, Half)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(throw_it, Throw)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(throw_later, ThrowLater)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(is_odd, IsOdd)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(greet, Greet)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(sum_of_bytes, SumOfBytes)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(twice, Twice)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(address_of, AddressOf)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(describe_shape, DescribeShape)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(describe_type, DescribeType)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(same, Same)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(filled, Filled)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(filled_like, FilledLike)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(pair, Pair)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(nothing, Nothing)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(keep, Keep)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(sample, Sample)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(is_sample, IsSample)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(note_sample, NoteSample)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(keep_tensor, KeepTensor)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(kept_sum, KeptSum)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fail, Fail)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(note_stream, NoteStream)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(seen_stream, SeenStream)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(noted_calls, NotedCalls)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(set_fill, SetFill)
