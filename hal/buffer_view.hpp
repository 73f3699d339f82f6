// BufferView: a buffer seen as a tensor: shape, element type, encoding. What programs take and give.
//
// Threads: immutable.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "hal/buffer.hpp"
#include "hal/element_type.hpp"

namespace baton::hal {

enum class Encoding : uint32_t { kOpaque = 0, kDenseRowMajor = 1 };

// "2x3xf32", "f32" for rank 0.
std::string shape_text(std::span<const int64_t> shape, ElementType element_type);
// How many bytes the elements of such a tensor take, one beside the other; a failure for what no tensor is.
Result<uint64_t> dense_bytes(std::span<const int64_t> shape, ElementType element_type);
// The strides, in elements, of a tensor whose elements lie row by row. `strides` has room for the rank.
inline void write_dense_strides(std::span<const int64_t> shape, int64_t* strides) {
  uint64_t stride = 1;  // It may wrap where another extent is 0; nothing is read then.
  for (size_t i = shape.size(); i-- > 0; stride *= static_cast<uint64_t>(shape[i])) {
    strides[i] = static_cast<int64_t>(stride);
  }
}

class BufferView final : public RefCounted<BufferView> {
 public:
  // The buffer must hold the dense elements; an opaque encoding may be of any size.
  static Result<Ref<BufferView>> make(Ref<Buffer> buffer, std::span<const int64_t> shape, ElementType element_type,
                                      Encoding encoding = Encoding::kDenseRowMajor);

  const Ref<Buffer>& buffer() const { return buffer_; }
  std::span<const int64_t> shape() const { return {extents(), rank_}; }
  // In elements, of elements that lie row by row. They stand here for those who pass tensors on at each call.
  std::span<const int64_t> dense_strides() const { return {extents() + rank_, rank_}; }
  ElementType element_type() const { return element_type_; }
  Encoding encoding() const { return encoding_; }
  uint64_t element_count() const { return element_count_; }
  uint64_t length_bytes() const { return element_count_ * element_bytes(element_type_); }
  std::string type_text() const;

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  BufferView(Ref<Buffer> buffer, std::span<const int64_t> shape, ElementType element_type, Encoding encoding,
             uint64_t element_count)
      : buffer_(std::move(buffer)),
        more_extents_(shape.size() > kRankInPlace ? new int64_t[2 * shape.size()] : nullptr),
        rank_(shape.size()),
        element_type_(element_type),
        encoding_(encoding),
        element_count_(element_count) {
    int64_t* const extents = more_extents_ ? more_extents_.get() : extents_;
    for (size_t i = 0; i < rank_; ++i) extents[i] = shape[i];
    write_dense_strides(shape, extents + rank_);
  }
  const int64_t* extents() const { return more_extents_ ? more_extents_.get() : extents_; }

  static constexpr size_t kRankInPlace = 6;

  Ref<Buffer> buffer_;
  int64_t extents_[2 * kRankInPlace];  // The shape, then its strides.
  std::unique_ptr<int64_t[]> more_extents_;
  size_t rank_;
  ElementType element_type_;
  Encoding encoding_;
  uint64_t element_count_;
};

}  // namespace baton::hal
