// The C interface of libtvm_ffi, as far as Baton calls it and is called by it. The layout is theirs and frozen within
// version 0.1; the names are ours, so that nothing of theirs is needed to build (tests/modules/tvm_ffi/c_abi_test.cpp
// compares both where their headers are). DLPack's structs are those of hal/dlpack.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hal/dlpack.h"

namespace baton::modules::tvm_ffi {

// What Any::type_index may be; objects begin with kObjectBegin.
enum TypeIndex : int32_t {
  kNone = 0,
  kInt = 1,
  kBool = 2,
  kFloat = 3,
  kOpaquePointer = 4,
  kDataType = 5,
  kDevice = 6,
  kTensorView = 7,    // DLTensor*, borrowed
  kRawText = 8,       // const char*, borrowed
  kByteArrayPtr = 9,  // borrowed
  kMovable = 10,      // AnyObject**, borrowed: a receiver that takes the object leaves null there
  kSmallText = 11,    // up to 7 bytes in place
  kSmallBytes = 12,
  kObjectBegin = 64,
  kText = 65,
  kBytes = 66,
  kError = 67,
  kFunction = 68,
  kShape = 69,
  kTensor = 70,
  kArray = 71,
  kMap = 72,
  kModule = 73,
};

// The head of every object, whoever made it.
struct AnyObject {
  uint64_t counts;  // strong in the low half, weak in the high; all strong ones together hold one weak one
  int32_t type_index;
  uint32_t padding;
  void (*destroy)(void* self, int flags);
};
struct TensorCell {
  AnyObject head;
  baton_dl_tensor tensor;
};
inline constexpr uint64_t kOneOwner = uint64_t{1} << 32 | 1;         // of `counts`
inline constexpr int kDestroyObject = 1 << 0, kFreeObject = 1 << 1;  // flags of `destroy`, together or one by one

struct ByteArray {
  const char* data;
  size_t size;
};

// A value: an argument is borrowed, a result is owned.
struct Any {
  int32_t type_index = kNone;
  uint32_t small_size = 0;  // of text and bytes in place, else 0
  union {
    int64_t integer = 0;
    double real;
    void* pointer;
    AnyObject* object;
    char bytes[8];
    baton_dl_device device;
    baton_dl_type type;
  };
};

// What stands behind an object's head.
struct ErrorCell {
  ByteArray kind;
  ByteArray message;
  ByteArray backtrace;  // lines, the most recent call first
  void (*update_backtrace)(void* self, const ByteArray* backtrace, int32_t mode);
  void* cause;
  void* context;
};
struct ArrayCell {
  void* data;  // Any[size]
  int64_t size;
  int64_t capacity;
  void (*destroy)(void* data);
};
struct FunctionCell {
  int (*call)(void* self, const Any* arguments, int32_t count, Any* result);
  void* cpp_call;
};
template <typename Cell>
Cell& cell_of(AnyObject* object) {
  return *reinterpret_cast<Cell*>(object + 1);
}

struct Version {
  uint32_t major, minor, patch;
};

// A function: 0, or what failed was raised (-1), or a frontend such as Python has raised it in its own way (-2).
using SafeCall = int (*)(void* self, const Any* arguments, int32_t count, Any* result);
inline constexpr int kRaised = -1, kRaisedInFrontend = -2;

}  // namespace baton::modules::tvm_ffi
