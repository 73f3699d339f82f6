// fill_buffer on Vulkan: a kernel that repeats eight bytes; shorter patterns are repeated to that.

#include "hal/commands/fill_buffer.hpp"

#include "hal/drivers/vulkan/command_buffer.hpp"
#include "hal/drivers/vulkan/device.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

uint64_t repeated(uint64_t pattern, uint32_t bytes) {
  if (bytes < 8) pattern &= (uint64_t{1} << 8 * bytes) - 1;
  for (; bytes < 8; bytes *= 2) pattern |= pattern << 8 * bytes;
  return pattern;
}

}  // namespace

Status CommandBuffer::fill_buffer(const commands::FillBuffer& command) {
  if (command.target.length != 0) {
    const uint64_t pattern = repeated(command.pattern, command.pattern_bytes);
    const uint32_t constants[] = {static_cast<uint32_t>(pattern), static_cast<uint32_t>(pattern >> 32)};
    BATON_TRY(launch({.pipeline = *device_.builtins().fill,
                      .bindings = copy_bindings({&command.target, 1}),
                      .constants = constants,
                      .grid = {builtin_workgroups(command.target.length), 1, 1}}));
  }
  return note(command);
}

}  // namespace baton::hal::drivers::vulkan
