// CommandBuffer and Binding: what a custom command written in Python gets.
//
// The command runs while a program records, and says what is to happen later, on the memory of each execution. A
// CommandBuffer takes commands only until the function returns; afterwards it refuses them.
// Threads: with Python's lock.
#pragma once

#include "modules/sdk/recording.h"
#include "python/extension/values.hpp"

namespace baton::python {

// A range of a buffer, or of a slot that each execution fills.
struct Binding {
  baton_binding range{};
  OwnedObject buffer;  // Null for a slot.
};

struct CommandBuffer {
  baton_command_buffer* handle = nullptr;  // Null once the command has returned.
  nb::object device;

  // FAILED_PRECONDITION once it is null.
  baton_command_buffer* open() const;
};

nb::object make_binding(int64_t slot, baton_object* buffer, int64_t offset, int64_t length);

// The object that Python sees of a command buffer, for as long as this lives.
class OpenCommandBuffer {
 public:
  OpenCommandBuffer(baton_object* commands, std::span<const Ref<OpenDevice>> devices);
  ~OpenCommandBuffer();
  OpenCommandBuffer(const OpenCommandBuffer&) = delete;
  OpenCommandBuffer& operator=(const OpenCommandBuffer&) = delete;

  const nb::object& object() const { return object_; }

 private:
  nb::object object_;
};

// A device of the door as Python holds it.
nb::object device_object(const baton_device* device, std::span<const Ref<OpenDevice>> devices);

void bind_command_buffers(nb::module_& module);

}  // namespace baton::python
