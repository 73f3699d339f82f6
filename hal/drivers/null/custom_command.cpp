// Custom commands on the null device: whatever one wants to enqueue with is granted and is nothing. The struct is
// filled with zeros, and what would have been enqueued stands in the recording as a foreign call that says no more than
// who asked for what.
#include <algorithm>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "hal/drivers/null/command_buffer.hpp"

namespace baton::hal::drivers::null {
namespace {

constexpr uint32_t kExtensionBytesMax = 4096;

}  // namespace

Status CommandBuffer::begin_custom(const CustomCommand& command) {
  custom_.begin(command);
  return {};
}

Status CommandBuffer::end_custom(const CustomCommand&) {
  custom_.end();
  return {};
}

Status CommandBuffer::extension(std::string_view name, void* out) {
  BATON_TRY(custom_.check(name));
  auto* bytes = static_cast<std::byte*>(out);
  const auto size = load_bytes<uint32_t>(bytes);
  if (size < sizeof(size) || size > kExtensionBytesMax) {
    return failure(StatusCode::kInvalidArgument, "Extension '", name, "' takes a struct of 4 to ", kExtensionBytesMax,
                   " bytes; struct_size says ", size, ".");
  }
  std::fill(bytes + sizeof(size), bytes + size, std::byte{0});
  const auto opaque = make_foreign_function(text(custom_.name(), " (", name, ")"),
                                            [](const ForeignArguments&) -> Status { return {}; });
  return foreign({.function = opaque.get()});
}

}  // namespace baton::hal::drivers::null
