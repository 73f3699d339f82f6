// Bindings as a recording keeps them, and under the arguments of an execution; what host calls and foreign calls are
// called with.
#pragma once

#include "hal/binding.hpp"
#include "hal/drivers/vulkan/buffer.hpp"
#include "hal/drivers/vulkan/prepared_commands.hpp"

namespace baton::hal::drivers::vulkan {

// Part of a record. Base 0 is a buffer that was recorded, base 1 the table itself, base s + 2 what slot s brings.
struct RecordedBinding {
  static constexpr uint32_t kFixed = 0, kTable = 1, kSlots = 2;

  uint32_t base;
  Access access;
  bool open;  // Up to the end of the slot.
  uint64_t offset;
  uint64_t length;       // Of an open one 0.
  const Buffer* buffer;  // Of base 0.

  static RecordedBinding make(const Binding& binding) {
    if (!binding.is_slot()) {
      return {kFixed,         binding.access, false,
              binding.offset, binding.length, static_cast<const Buffer*>(binding.buffer)};
    }
    return {binding.slot + kSlots,
            binding.access,
            binding.is_open(),
            binding.offset,
            binding.is_open() ? 0 : binding.length,
            nullptr};
  }
  static RecordedBinding in_table(uint32_t offset, uint64_t length) {
    return {kTable, Access::kReadWrite, false, offset, length, nullptr};
  }
  bool is_slot() const { return base >= kSlots; }
  uint32_t slot() const { return base - kSlots; }
};

// A binding under the table of an execution.
struct ResolvedBinding {
  const Slab* slab;
  uint64_t address;
  uint64_t slab_offset;
  uint64_t length;
  const Buffer* buffer;  // Null: the table.
  uint64_t buffer_offset;
};
ResolvedBinding resolve(const RecordedBinding& binding, const Arguments& arguments, const Block& table);

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

}  // namespace baton::hal::drivers::vulkan
