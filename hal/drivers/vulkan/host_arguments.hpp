// What a host call and a foreign call are called with, under the arguments of an execution.
#pragma once

#include "hal/drivers/vulkan/recording.hpp"

namespace baton::hal::drivers::vulkan {

// In the recording's arena.
struct HostStepArguments {
  std::span<const RecordedBinding> bindings = {};
  std::span<const uint32_t> constants = {};
  std::span<const ConstantSlot> constant_slots = {};

  std::vector<ResolvedBinding> resolved(const Arguments& arguments) const {
    std::vector<ResolvedBinding> all;
    for (const RecordedBinding& binding : bindings) all.push_back(resolve(binding, arguments, {}));
    return all;
  }
  std::vector<uint32_t> filled_constants(const Arguments& arguments) const {
    std::vector<uint32_t> filled(constants.begin(), constants.end());
    for (const ConstantSlot& slot : constant_slots) filled[slot.constant] = arguments.constants[slot.slot];
    return filled;
  }
};

// A call of a HostFunction or of a ForeignFunction.
template <typename Function>
struct FunctionStep : HostStep {
  Function* function = nullptr;
  HostStepArguments arguments;
};

}  // namespace baton::hal::drivers::vulkan
