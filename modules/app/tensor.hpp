// Tensor: what an app gives to programs and gets from them: elements on a device, with shape and type.
//
//   BATON_TRY_ASSIGN(Tensor x, Tensor::from(*device, {2, 3}, std::span<const float>(numbers)));
//   BATON_TRY(x.copy_to(std::span<float>(numbers)));
//
// What is made of the host's elements may be on its way to the device: calls come behind it, and who copies it waits.
// A copy of a Tensor is the same tensor. TensorOf<float> is one whose elements are known to be f32: find() compares it
// with what the program declares.
// Threads: immutable, but for its contents, which are those of the device's work.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "hal/buffer_view.hpp"
#include "hal/device.hpp"
#include "hal/dlpack.hpp"
#include "hal/fence.hpp"

namespace baton::app {

// The type of the device's elements that a type of C++ holds.
template <typename T>
struct ElementOf;  // No element of a tensor has this type.
#define BATON_ELEMENT(Type, kind)                                     \
  template <>                                                         \
  struct ElementOf<Type> {                                            \
    static constexpr hal::ElementType kType = hal::ElementType::kind; \
  };
BATON_ELEMENT(bool, kI1)
BATON_ELEMENT(int8_t, kI8)
BATON_ELEMENT(int16_t, kI16)
BATON_ELEMENT(int32_t, kI32)
BATON_ELEMENT(int64_t, kI64)
BATON_ELEMENT(uint8_t, kU8)
BATON_ELEMENT(uint16_t, kU16)
BATON_ELEMENT(uint32_t, kU32)
BATON_ELEMENT(uint64_t, kU64)
BATON_ELEMENT(float, kF32)
BATON_ELEMENT(double, kF64)
#undef BATON_ELEMENT

template <typename T>
class TensorOf;

class Tensor {
 public:
  using Shape = std::span<const int64_t>;

  Tensor() = default;  // None; a program gets null.
  Tensor(Ref<hal::Device> device, Ref<hal::BufferView> view, Ref<hal::Fence> ready = nullptr)
      : device_(std::move(device)), view_(std::move(view)), ready_(std::move(ready)) {}

  // A copy of the elements, dense, row by row.
  template <typename T>
  static Result<TensorOf<T>> from(hal::Device& device, Shape shape, std::span<const T> elements);
  template <typename T>
  static Result<TensorOf<T>> from(hal::Device& device, std::initializer_list<int64_t> shape,
                                  std::span<const T> elements);
  static Result<Tensor> from_bytes(hal::Device& device, hal::ElementType type, Shape shape,
                                   std::span<const std::byte> elements);
  static Result<Tensor> from_bytes(hal::Device& device, hal::ElementType type, std::initializer_list<int64_t> shape,
                                   std::span<const std::byte> elements) {
    return from_bytes(device, type, Shape(shape.begin(), shape.size()), elements);
  }
  // In place: see hal/dlpack.hpp for who owns what, and for streams.
  static Result<Tensor> from_dlpack(hal::Device& device, baton_dl_managed_tensor* tensor,
                                    int64_t stream = hal::kNoStream);
  Result<baton_dl_managed_tensor*> to_dlpack(const hal::DlpackConsumer& consumer = {}) const;

  explicit operator bool() const { return static_cast<bool>(view_); }
  Shape shape() const { return view_->shape(); }
  hal::ElementType element_type() const { return view_->element_type(); }
  uint64_t element_count() const { return view_->element_count(); }
  std::string type_text() const { return view_ ? view_->type_text() : "null"; }  // "2x3xf32"
  const Ref<hal::BufferView>& view() const { return view_; }
  const Ref<hal::Device>& device() const { return device_; }
  // Passed when the elements are there; null: they are.
  const Ref<hal::Fence>& ready() const { return ready_; }

  // All elements; the room is theirs exactly. The work that makes them is done: a call that returned waited for it.
  template <typename T>
  Status copy_to(std::span<T> target) const {
    return copy_bytes_to(ElementOf<T>::kType, target.size(), std::as_writable_bytes(target));
  }
  template <typename T>
  Result<std::vector<T>> copy() const {
    // A std::vector<bool> has no elements in memory.
    using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    std::vector<Stored> elements(view_ ? view_->element_count() : 0);
    BATON_TRY(copy_bytes_to(ElementOf<T>::kType, elements.size(), std::as_writable_bytes(std::span(elements))));
    if constexpr (std::is_same_v<T, bool>) {
      return std::vector<T>(elements.begin(), elements.end());
    } else {
      return elements;
    }
  }
  // The same for elements that C++ has no type for, f16 among them: their bytes, dense, row by row.
  Result<std::vector<std::byte>> copy_bytes() const;

 private:
  Status copy_bytes_to(hal::ElementType type, size_t count, std::span<std::byte> target) const;

  Ref<hal::Device> device_;
  Ref<hal::BufferView> view_;
  Ref<hal::Fence> ready_;
};

template <typename T>
class TensorOf : public Tensor {
 public:
  using Element = T;
  TensorOf() = default;
  // FAILED_PRECONDITION unless the elements are of this type.
  static Result<TensorOf> take(Tensor tensor);

 private:
  explicit TensorOf(Tensor tensor) : Tensor(std::move(tensor)) {}
};

template <typename T>
Result<TensorOf<T>> Tensor::from(hal::Device& device, Shape shape, std::span<const T> elements) {
  BATON_TRY_ASSIGN(Tensor made, from_bytes(device, ElementOf<T>::kType, shape, std::as_bytes(elements)));
  return TensorOf<T>::take(std::move(made));
}
template <typename T>
Result<TensorOf<T>> Tensor::from(hal::Device& device, std::initializer_list<int64_t> shape,
                                 std::span<const T> elements) {
  return from(device, Shape(shape.begin(), shape.size()), elements);
}

// A program's signless integers match signed and unsigned ones.
bool same_element(hal::ElementType a, hal::ElementType b);

template <typename T>
Result<TensorOf<T>> TensorOf<T>::take(Tensor tensor) {
  if (!tensor || same_element(tensor.element_type(), ElementOf<T>::kType)) return TensorOf(std::move(tensor));
  return failure(StatusCode::kFailedPrecondition, "A tensor ", tensor.type_text(), " is none of ",
                 hal::element_type_name(ElementOf<T>::kType), ".");
}

}  // namespace baton::app
