// FunctionRecord: a call of a HostFunction or of a ForeignFunction, as local devices record it.
#pragma once

#include "hal/device_limits.hpp"
#include "hal/drivers/local/recording.hpp"

namespace baton::hal::drivers::local {

template <typename Function>
struct FunctionRecord : Record {
  Function* function;
  std::span<const uint32_t> constants;
  std::span<const ConstantSlot> constant_slots;
  std::span<const RecordedBinding> bindings;
};

// The constants of a call under an execution.
class FilledConstants {
 public:
  template <typename Function>
  FilledConstants(const FunctionRecord<Function>& record, const Execution& execution)
      : count_(record.constants.size()) {
    for (size_t i = 0; i < count_; ++i) words_[i] = record.constants[i];
    for (const ConstantSlot& slot : record.constant_slots) words_[slot.constant] = execution.constants[slot.slot];
  }
  std::span<const uint32_t> words() const { return {words_, count_}; }

 private:
  uint32_t words_[DeviceLimits{}.constants_max];
  size_t count_;
};

}  // namespace baton::hal::drivers::local
