// hal.buffer.*: lengths, parts, and single values of memory that the host sees; hal.device.load for what it doesn't
// see.

#include <cstring>

#include "base/bytes.hpp"
#include "hal/host_copy.hpp"
#include "modules/hal_module/exports.hpp"

namespace baton::modules::exports {
namespace {

Status check_access(std::string_view verb, int64_t offset, int32_t width) {
  if (width != 1 && width != 2 && width != 4 && width != 8) {
    return failure(StatusCode::kInvalidArgument, verb, " of ", width, " bytes; it takes 1, 2, 4 or 8.");
  }
  if (offset < 0) return failure(StatusCode::kOutOfRange, verb, " at offset ", offset, " is before the buffer.");
  return {};
}

}  // namespace

namespace buffer {

int64_t length(const hal::Buffer& buffer) { return static_cast<int64_t>(buffer.length()); }

Result<Ref<hal::Buffer>> subspan(hal::Buffer& buffer, int64_t offset, int64_t length) {
  if (offset < 0 || length < -1) {
    return failure(StatusCode::kOutOfRange, "Subspan of ", length, " bytes at ", offset,
                   " begins before the buffer or has no length; -1 means up to the end.");
  }
  return buffer.subspan(static_cast<uint64_t>(offset), static_cast<uint64_t>(length));
}

// The bytes are the low ones of the result (little-endian), the rest is zero.
Result<int64_t> load(hal::Buffer& buffer, int64_t offset, int32_t width) {
  BATON_TRY(check_access("Load", offset, width));
  const auto size = static_cast<size_t>(width);
  BATON_TRY_ASSIGN(const hal::Mapping mapping, buffer.map(hal::Access::kRead, static_cast<uint64_t>(offset), size));
  int64_t value = 0;
  std::memcpy(&value, mapping.bytes().data(), size);
  return value;
}

Status store(hal::Buffer& buffer, int64_t offset, int32_t width, int64_t value) {
  BATON_TRY(check_access("Store", offset, width));
  const auto size = static_cast<size_t>(width);
  BATON_TRY_ASSIGN(const hal::Mapping mapping,
                   buffer.map(hal::Access::kDiscardWrite, static_cast<uint64_t>(offset), size));
  std::memcpy(mapping.bytes().data(), &value, size);
  return {};
}

}  // namespace buffer

namespace device {

Result<int64_t> load(hal::Device& device, hal::Buffer& buffer, int64_t offset, int32_t width) {
  BATON_TRY(check_access("Load", offset, width));
  const auto at = static_cast<uint64_t>(offset), size = static_cast<uint64_t>(width);
  if (!range_inside(at, size, buffer.length())) {
    return failure(StatusCode::kOutOfRange, "Load of ", width, " bytes at ", offset, " is not inside its buffer (",
                   buffer.length(), " bytes).");
  }
  int64_t value = 0;
  const std::span<std::byte> target = std::as_writable_bytes(std::span(&value, 1)).first(static_cast<size_t>(width));
  BATON_TRY(hal::copy_to_host(device, {&buffer, at, size}, target));
  return value;
}

}  // namespace device

}  // namespace baton::modules::exports
