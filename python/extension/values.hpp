// Values of Python as what functions of a program take and give, by their signatures.
//
//   i32 i64 f32 f64     int, float, and what says __index__ or __float__; numbers that do not fit are refused
//   hal.buffer_view     arrays (arrays.hpp), Tensor; None for null
//   list                list or tuple; an int in it is an i64, a float an f64, NumPy's scalars are what they say
//   blob                bytes and what has a buffer, in place; back come bytes
//   anything else       Object: what a program gave, to be given back to it
//
// Threads: with Python's lock, unless a function says otherwise.
#pragma once

#include <string>
#include <vector>

#include "bytecode/signature.hpp"
#include "hal/uploads.hpp"
#include "modules/sdk/object.h"
#include "python/extension/tensor.hpp"
#include "vm/object.hpp"
#include "vm/value.hpp"

namespace baton::python {

enum class Kind : uint8_t { kI32, kI64, kF32, kF64, kTensor, kList, kBlob, kAny, kOther };

struct Parameter {
  Kind kind;
  std::string type_name;  // As signatures spell it.
  std::string
      element;  // Of a tensor, as abi.declaration says; may be empty. Of a number, where that has fewer bits than the VM's: i8, bf16.
  bool is_consumed = false;  // A tensor that the function may write: abi.consumes.
};

// Both sides of a signature without variadic segments.
std::vector<Parameter> parameters_of(std::string_view side);

// An object of the VM that this owns, or null.
class OwnedObject {
 public:
  OwnedObject() = default;
  explicit OwnedObject(baton_object* object) : object_(object) {}
  OwnedObject(OwnedObject&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  OwnedObject& operator=(OwnedObject&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~OwnedObject() { vm::release_object(reinterpret_cast<vm::Object*>(object_)); }
  baton_object* get() const { return object_; }
  baton_object* detach() { return std::exchange(object_, nullptr); }

 private:
  baton_object* object_ = nullptr;
};

// Any object of a program, as Python holds it.
struct Object {
  OwnedObject object;
};

// What values refer to: where arrays go, and when tensors are there.
struct Surroundings {
  std::span<const Ref<OpenDevice>> devices;
  Ref<hal::Fence> ready = nullptr;  // Of results.
  // Of tensors that are given on before they are there; null: they are waited for.
  std::vector<Ref<hal::Fence>>* waits = nullptr;
  // Of the first device, for arrays that are copied to it; null: each copy is waited for.
  hal::Uploads* uploads = nullptr;
};

// The number in `out`, or the object in `owned` and `out`. Throws what Python raises.
void to_value(PyObject* value, const Parameter& parameter, Surroundings& around, vm::Value& out, OwnedObject& owned);
// Takes a reference over.
nb::object from_value(vm::Value value, const Parameter& parameter, const Surroundings& around);

void bind_values(nb::module_& module);

}  // namespace baton::python
