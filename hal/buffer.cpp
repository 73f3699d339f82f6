#include "hal/buffer.hpp"

#include "base/bytes.hpp"

namespace baton::hal {
namespace {

Status check_usable(const Buffer& buffer, std::string_view what, uint64_t offset, uint64_t length) {
  if (buffer.freed()) return failure(StatusCode::kFailedPrecondition, what, " of a buffer that was freed.");
  if (!range_inside(offset, length, buffer.length())) {
    return failure(StatusCode::kOutOfRange, what, " [", offset, ", ", offset + length,
                   ") ends beyond the buffer length (", buffer.length(), ").");
  }
  return {};
}

}  // namespace

Result<Ref<Buffer>> Buffer::subspan(uint64_t offset, uint64_t length) {
  if (length == kWholeLength) length = offset <= length_ ? length_ - offset : 0;
  BATON_TRY(check_usable(*this, "Subspan", offset, length));
  if (root_) return root_->do_subspan(root_offset_ + offset, length);
  return do_subspan(offset, length);
}

Result<Mapping> Buffer::map(Access access, uint64_t offset, uint64_t length) {
  if (length == kWholeLength) length = offset <= length_ ? length_ - offset : 0;
  BATON_TRY(check_usable(*this, "Mapping", offset, length));
  if (!has_all(usage_, BufferUsage::kMapping) || !has_all(memory_, MemoryKind::kHostVisible)) {
    // No bytes are everywhere: who reads an empty tensor need not know where it lies.
    if (length == 0) return Mapping(nullptr, nullptr, access, offset, 0);
    return failure(StatusCode::kPermissionDenied,
                   "Mapping needs usage mapping and memory host_visible; the buffer has usage ", usage_names(usage_),
                   " and memory ", memory_kind_names(memory_), ".");
  }
  if (has_all(usage_, BufferUsage::kConstant) && has_any(access, Access::kWrite)) {
    return failure(StatusCode::kPermissionDenied, "Mapping writes to a constant buffer (usage ", usage_names(usage_),
                   ").");
  }
  BATON_TRY_ASSIGN(std::byte * data, do_map(access, offset, length));
  return Mapping(Ref<Buffer>(this), data, access, offset, length);
}

Mapping::~Mapping() {
  if (buffer_) buffer_->do_unmap(data_, access_, offset_, length_);
}

}  // namespace baton::hal
