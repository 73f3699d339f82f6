// DeviceDoor: the part of the door that needs the HAL, as native_module.cpp and host_table.cpp see it.
//
// It is there in programs that link the module "hal" (modules/hal_module), and only there: a host without devices
// carries none of it.
// Threads: immutable.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "hal/command_buffer.hpp"
#include "modules/sdk/module.h"
#include "modules/sdk/recording.h"

namespace baton::modules {

// A custom command as it stands in vm::NativeFunction::data: what its module exported, and what its module prepares.
struct CommandExport {
  baton_body body;
  void* data;
  baton_status* (*prepare)(void* state, baton_device* device);  // or null
  hal::CustomCommand name;
  // The value arguments that are slots whose element types the module does not know (BATON_TRAIT_TYPED_TENSORS).
  std::vector<uint16_t> untyped_slots = {};
};

// What a wrapper hands to the body behind it. The machine calls with its own baton_call, and after a suspension with
// the same one again: a wrapper changes nothing in it but `pending`, and puts what it knows better into a copy.
inline baton_call inner_call(const baton_call& outer, void* state, void* data) {
  return {.state = state,
          .data = data,
          .values = outer.values,
          .refs = outer.refs,
          .segments = outer.segments,
          .pending = nullptr,
          .resumed = outer.resumed};
}

// State of a module that prepares, in one context: its own, and the devices that it is ready for.
struct PreparingState {
  struct Device;  // custom_command.cpp

  void* own = nullptr;
  std::atomic<Device*> ready{nullptr};  // A list that only grows.
  std::mutex preparing;
};

struct DeviceDoor {
  const baton_device_table* devices;
  const baton_recording_table* recording;
  // Runs the CommandExport in call->data with the command buffer in call->refs[0] open for it. With `prepare`,
  // call->state is a PreparingState.
  baton_body run_command;
  void (*forget_devices)(PreparingState& state);
};

// Defined in hal_module; code that may be linked without it asks linked_device_door().
const DeviceDoor& device_door();
const DeviceDoor* linked_device_door();  // host_table.cpp; null without devices

}  // namespace baton::modules
