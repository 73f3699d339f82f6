#include "hal/buffer_view.hpp"

namespace baton::hal {
namespace {

Result<uint64_t> count_elements(std::span<const int64_t> shape, ElementType element_type) {
  uint64_t count = 1;
  for (int64_t extent : shape) {
    // Bytes must stay below 2^63, so that every offset into a view is a valid i64 of a program.
    if (extent < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(extent), &count) || count >> 58 != 0) {
      return failure(StatusCode::kInvalidArgument, "Shape ", shape_text(shape, element_type),
                     " has a negative extent or more elements than can be addressed.");
    }
  }
  return count;
}

}  // namespace

std::string shape_text(std::span<const int64_t> shape, ElementType element_type) {
  std::string result;
  for (int64_t extent : shape) result += text(extent, "x");
  return result += element_type_name(element_type);
}

Result<uint64_t> dense_bytes(std::span<const int64_t> shape, ElementType element_type) {
  if (element_type_name(element_type) == "none") {
    return failure(StatusCode::kInvalidArgument, "Number ", static_cast<uint32_t>(element_type),
                   " is not an element type.");
  }
  BATON_TRY_ASSIGN(const uint64_t count, count_elements(shape, element_type));
  return count * element_bytes(element_type);
}

Result<Ref<BufferView>> BufferView::make(Ref<Buffer> buffer, std::span<const int64_t> shape, ElementType element_type,
                                         Encoding encoding) {
  if (!buffer) return failure(StatusCode::kInvalidArgument, "A buffer view needs a buffer; it has none.");
  BATON_TRY_ASSIGN(const uint64_t count, count_elements(shape, element_type));
  const uint64_t length = count * element_bytes(element_type);
  if (encoding == Encoding::kDenseRowMajor && length > buffer->length()) {
    return failure(StatusCode::kOutOfRange, "A view of ", shape_text(shape, element_type), " needs ", length,
                   " bytes; the buffer has ", buffer->length(), ".");
  }
  return make_ref<BufferView>(std::move(buffer), shape, element_type, encoding, count);
}

std::string BufferView::type_text() const { return shape_text(shape(), element_type_); }

}  // namespace baton::hal
