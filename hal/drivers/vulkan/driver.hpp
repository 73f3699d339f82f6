// The Vulkan driver: what the loader of Vulkan sees, opened at run time; compute alone, no window system.
//
//   vulkan                     the first device that is hardware, or the first one where there is none
//   vulkan://1                 by its place in the list, where hardware comes first and software (lavapipe) last
//   vulkan://llvmpipe          by the beginning of its name, or of its UUID
// Parameters: vulkan_validation=0|1 (Khronos' validation layer watches every call), vulkan_cache=FOLDER (compiled pipelines
// are kept there).
// Threads: as Driver.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "hal/driver.hpp"

namespace baton::hal::drivers::vulkan {

// Who hears what the validation layer says.
// Threads: `say` is called from any.
class ValidationListener {
 public:
  virtual ~ValidationListener() = default;
  virtual void say(std::string_view message) = 0;
};

struct Options {
  // Null: messages go to standard error.
  std::shared_ptr<ValidationListener> validation_listener = nullptr;
  // Of a grid in x, y and z: where the device takes more, it is taken for one that takes no more. For tests.
  uint32_t workgroups_max = ~uint32_t{0};
};

std::unique_ptr<Driver> make_driver(Options options = {});

}  // namespace baton::hal::drivers::vulkan
