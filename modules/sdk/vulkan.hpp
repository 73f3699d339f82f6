// What a command buffer on a Vulkan device offers in addition: rec.vulkan() while a custom command records, here.vulkan() in a foreign
// function. The twin of vulkan.h.
//
// On a device of another kind each call fails and names device, module and function; on one that runs nothing what
// comes is empty.
// Threads: as the call.
#pragma once

#include "modules/sdk/status.hpp"
#include "modules/sdk/vulkan.h"

namespace baton::sdk {

class Vulkan {
 public:
  static constexpr std::string_view kDriver = "vulkan";
  using Ask = baton_status* (*)(void* self, baton_string name, void* out);

  Vulkan(void* self, Ask function) : self_(self), ask_(function) {}

  // The command buffer of this point, with what it takes to record on it, until the next command or until the function
  // returns.
  Result<baton_vulkan_command_buffer> command_buffer() const {
    baton_vulkan_command_buffer answer = {};
    answer.struct_size = sizeof(answer);
    const std::string_view name = BATON_VULKAN_COMMAND_BUFFER_V1;
    Status status = Status::adopt(ask_(self_, {name.data(), name.size()}, &answer));
    if (!status.ok()) return status;
    return answer;
  }

 private:
  void* self_;
  Ask ask_;
};

}  // namespace baton::sdk
