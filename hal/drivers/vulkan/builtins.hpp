// Builtins: the driver's own kernels, by address (shaders/). Made with the device.
#pragma once

#include "hal/drivers/vulkan/pipeline.hpp"

namespace baton::hal::drivers::vulkan {

struct Builtins {
  Ref<Pipeline> copy;        // Bindings {source, target}.
  Ref<Pipeline> fill;        // Bindings {target}, constants {low, high}: the pattern, eight bytes of it.
  Ref<Pipeline> check_grid;  // Bindings {grid, CheckedGrid}, constants {most[3]}.
};

// What check_grid writes; shaders/check_grid.comp has the same.
struct CheckedGrid {
  uint32_t grid[3];  // What is launched.
  uint32_t refused;  // 1: `asked` is more than the device can launch.
  uint32_t asked[3];
  uint32_t reserved;
};

Result<Builtins> make_builtins(const Ref<Context>& context);

// How many workgroups of a builtin handle `length` bytes.
uint32_t builtin_workgroups(uint64_t length);

}  // namespace baton::hal::drivers::vulkan
