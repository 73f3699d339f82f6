// Launch: a kernel with its parameters, laid out when it is recorded.
//
// The parameters lie in one block of bytes as the kernel wants them, with everything fixed filled in. What a table
// decides stands in two short lists; a launch without such entries passes the recorded bytes as they are.
#pragma once

#include <cstring>

#include "hal/commands/checks.hpp"
#include "hal/drivers/cuda/executable.hpp"
#include "hal/drivers/cuda/recording.hpp"

namespace baton::hal::drivers::cuda {

struct Launch {
  struct SlotPointer {
    uint32_t slot;  // As RecordedBinding::slot.
    uint16_t at;
    uint64_t offset;
  };
  struct SlotConstant {
    ConstantPlace at;
    uint32_t slot;
  };

  // Up to the end of a slot, for a kernel that checks its accesses.
  struct SlotLength {
    uint32_t slot;
    uint16_t at;
    uint64_t offset;
  };

  // What a table decides.
  struct FromTable {
    std::span<const SlotPointer> pointers;
    std::span<const SlotConstant> constants;
    std::span<const SlotLength> lengths = {};
  };

  const Kernel* kernel;
  std::byte* parameters;
  const FromTable* from_table;  // Null: nothing.
};

// A word of constants, or the low bytes of one.
inline void put_constant(std::byte* parameters, ConstantPlace at, const uint32_t& word) {
  if (at.bytes == sizeof(word)) [[likely]] {
    std::memcpy(parameters + at.offset, &word, sizeof(word));
  } else {
    std::memcpy(parameters + at.offset, &word, at.bytes);
  }
}

// `parameters`: room for those of the kernel.
void make_launch(Arena& arena, const LaunchShape& shape, std::byte* parameters, Launch& launch);
inline const Kernel& kernel_of(const LaunchShape& shape) {
  return static_cast<const Executable&>(*shape.executable).kernel(shape.entry_point);
}
// A record with its launch, and behind it in memory the parameters: what recording writes and building reads is one run
// of bytes.
template <typename LaunchRecord>
LaunchRecord* make_launch_record(Arena& arena, const LaunchShape& shape) {
  static_assert(sizeof(LaunchRecord) % 16 == 0);
  void* memory = arena.allocate(sizeof(LaunchRecord) + kernel_of(shape).parameter_bytes, 16);
  auto* record = new (memory) LaunchRecord;
  make_launch(arena, shape, reinterpret_cast<std::byte*>(record + 1), record->launch);
  return record;
}

// The bytes of one launch, and the list of words that the driver takes them by.
class LaunchParameters {
 public:
  LaunchParameters(const Launch& launch, const Execution& execution)
      : size_bytes_(launch.kernel->parameter_bytes),
        extra_{CU_LAUNCH_PARAM_BUFFER_POINTER, launch.parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &size_bytes_,
               CU_LAUNCH_PARAM_END} {
    if (!launch.from_table) return;
    std::memcpy(storage_, launch.parameters, size_bytes_);
    for (const Launch::SlotPointer& pointer : launch.from_table->pointers) {
      const CUdeviceptr address = execution.slots[pointer.slot].address + pointer.offset;
      std::memcpy(storage_ + pointer.at, &address, sizeof(address));
    }
    for (const Launch::SlotConstant& constant : launch.from_table->constants) {
      put_constant(storage_, constant.at, execution.constants[constant.slot]);
    }
    for (const Launch::SlotLength& open : launch.from_table->lengths) {
      const uint64_t length = execution.slots[open.slot].length - open.offset;
      std::memcpy(storage_ + open.at, &length, sizeof(length));
    }
    extra_[1] = storage_;
  }
  LaunchParameters(const LaunchParameters&) = delete;
  LaunchParameters& operator=(const LaunchParameters&) = delete;

  void** extra() const { return const_cast<void**>(extra_); }
  // As a kernel node takes them: in one block, but one by one if it is cooperative.
  void give_to(CUDA_KERNEL_NODE_PARAMS& node, const Kernel& kernel) {
    if (!kernel.cooperative) {
      node.extra = extra_;
      return;
    }
    for (const uint16_t offset : kernel.offsets) each_.push_back(static_cast<std::byte*>(extra_[1]) + offset);
    node.kernelParams = each_.data();
  }

 private:
  size_t size_bytes_;
  void* extra_[5];
  std::vector<void*> each_;
  alignas(16) std::byte storage_[kParameterBytesMax];
};

Status launch(const Launch& launch, const uint32_t (&grid)[3], const LaunchParameters& parameters,
              const Execution& execution);

}  // namespace baton::hal::drivers::cuda
