// The Vulkan driver: what the loader of Vulkan sees, opened at run time; compute alone, no window system.
//
//   vulkan                     the first device that is hardware, or the first one where there is none
//   vulkan://1                 by its place in the list, where hardware comes first and software (lavapipe) last
//   vulkan://llvmpipe          by the beginning of its name, or of its UUID
// Parameters: vulkan_validation=0|1|fatal (Khronos' validation layer watches every call; fatal: what it says ends the process), vulkan_cache=FOLDER (compiled pipelines
// are kept there).
// Threads: as Driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hal/driver.hpp"

namespace baton {
class Timeline;
}

namespace baton::hal::drivers::vulkan {

// Who hears what the validation layer says.
// Threads: `say` is called from any.
class ValidationListener {
 public:
  virtual ~ValidationListener() = default;
  virtual void say(std::string_view message) = 0;
};

// SPIR-V with functions that kernels of programs import. A function that two define is refused when a program that imports
// any is loaded.
struct DeviceFunctions {
  std::string name;  // For messages: the file it came from.
  std::vector<std::byte> code;
};
using FunctionList = std::shared_ptr<const std::vector<DeviceFunctions>>;

struct Options {
  // Where devices tell when they ran what (work_spans.hpp); it outlives them. Null: nowhere.
  baton::Timeline* timeline = nullptr;
  // Null: messages go to standard error.
  std::shared_ptr<ValidationListener> validation_listener = nullptr;
  // Limits the grid in x, y and z when the device takes more. For tests.
  uint32_t workgroups_max = ~uint32_t{0};
  // Linked with programs that import functions, when they are loaded (linked_functions.hpp).
  std::vector<DeviceFunctions> functions = {};
};

std::unique_ptr<Driver> make_driver(Options options = {});

}  // namespace baton::hal::drivers::vulkan
