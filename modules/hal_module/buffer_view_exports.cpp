// hal.buffer_view.*: tensors as programs take and give them.

#include "modules/hal_module/exports.hpp"
#include "modules/hal_module/stack_list.hpp"

namespace baton::modules::exports::buffer_view {
namespace {

constexpr size_t kRankMax = 64;
using Shape = StackList<int64_t, kRankMax>;

Status gather(const Variadic<int64_t>& extents, Shape& shape) {
  if (extents.size() > kRankMax) {
    return failure(StatusCode::kInvalidArgument, "A shape has ", extents.size(), " dimensions; at most ", kRankMax,
                   " are possible.");
  }
  for (int64_t extent : extents) shape.push(extent);
  return {};
}

Status check_kind(uint32_t element_type, uint32_t encoding) {
  if (hal::element_type_name(static_cast<hal::ElementType>(element_type)) == "none") {
    return failure(StatusCode::kInvalidArgument, "Number ", element_type, " is not an element type.");
  }
  if (encoding > static_cast<uint32_t>(hal::Encoding::kDenseRowMajor)) {
    return failure(StatusCode::kInvalidArgument, "Number ", encoding, " is not an encoding; 0 is opaque, 1 is dense.");
  }
  return {};
}

// "?x4xf32": what was asked for, -1 as any extent.
std::string type_text(std::span<const int64_t> shape, hal::ElementType element_type) {
  std::string result;
  for (int64_t extent : shape) result += extent < 0 ? std::string("?x") : text(extent, "x");
  return result += hal::element_type_name(element_type);
}

// Programs know integers without a sign: tensors from files may have one. Where a program asks for signed ones, frameworks have those without.
bool is_taken_as(hal::ElementType given, hal::ElementType expected) {
  if (given == expected) return true;
  if (given == hal::ElementType::kI1 || expected == hal::ElementType::kI1) return false;
  if (element_bytes(given) != element_bytes(expected)) return false;
  const hal::ElementClass from = element_class(given), to = element_class(expected);
  if (to == hal::ElementClass::kInteger)
    return from == hal::ElementClass::kSigned || from == hal::ElementClass::kUnsigned;
  return to == hal::ElementClass::kSigned && from == hal::ElementClass::kInteger;
}

bool fits(std::span<const int64_t> shape, std::span<const int64_t> wanted) {
  if (shape.size() != wanted.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (wanted[i] >= 0 && shape[i] != wanted[i]) return false;
  }
  return true;
}

}  // namespace

Result<Ref<hal::BufferView>> create(hal::Buffer& buffer, int64_t offset, int64_t length, uint32_t element_type,
                                    uint32_t encoding, const Variadic<int64_t>& extents) {
  BATON_TRY(check_kind(element_type, encoding));
  Shape shape;
  BATON_TRY(gather(extents, shape));
  Ref<hal::Buffer> storage(&buffer);
  if (offset != 0 || (length != -1 && static_cast<uint64_t>(length) != buffer.length())) {
    BATON_TRY_ASSIGN(storage, exports::buffer::subspan(buffer, offset, length));
  }
  return hal::BufferView::make(std::move(storage), shape.items(), static_cast<hal::ElementType>(element_type),
                               static_cast<hal::Encoding>(encoding));
}

Ref<hal::Buffer> buffer(const hal::BufferView& view) { return view.buffer(); }

int32_t rank(const hal::BufferView& view) { return static_cast<int32_t>(view.shape().size()); }

Result<int64_t> dim(const hal::BufferView& view, int32_t index) {
  const auto shape = view.shape();
  if (index >= 0 && static_cast<size_t>(index) < shape.size()) return shape[static_cast<size_t>(index)];
  return failure(StatusCode::kOutOfRange, "Dimension ", index, " of a ", view.type_text(), " is asked for; it has ",
                 shape.size(), ": a tensor of more dimensions is wanted.");
}

int32_t element_type(const hal::BufferView& view) { return static_cast<int32_t>(view.element_type()); }

int32_t encoding(const hal::BufferView& view) { return static_cast<int32_t>(view.encoding()); }

Status check(const hal::BufferView& view, std::string_view what, uint32_t element_type, uint32_t encoding,
             const Variadic<int64_t>& extents) {
  Shape wanted;
  BATON_TRY(gather(extents, wanted));
  if (!is_taken_as(view.element_type(), static_cast<hal::ElementType>(element_type)) ||
      !fits(view.shape(), wanted.items())) {
    return failure(StatusCode::kInvalidArgument, "Tensor '", what, "' is a ", view.type_text(), "; expected is a ",
                   type_text(wanted.items(), static_cast<hal::ElementType>(element_type)), ".");
  }
  if (static_cast<uint32_t>(view.encoding()) == encoding) return {};
  return failure(StatusCode::kInvalidArgument, "Tensor '", what, "' has encoding ",
                 static_cast<uint32_t>(view.encoding()), "; expected is ", encoding, ".");
}

}  // namespace baton::modules::exports::buffer_view
