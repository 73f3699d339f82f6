// Resource: how a program names memory in a command: slot, buffer, offset, length.
//
// With a buffer the slot's index means nothing; without one (null) the table of each execution fills the slot. A length
// of -1 reaches to the end. Bits 32 and 33 of the slot say how a dispatch uses the memory: 1 it reads, 2 it writes, 3
// both; 0 leaves it open, which means both where the buffer allows it. Custom commands receive the same four.
#pragma once

#include "hal/binding.hpp"
#include "modules/hal_module/objects.hpp"

namespace baton::modules {

struct Resource {
  int64_t slot;
  hal::Buffer* buffer;
  int64_t offset;
  int64_t length;
};

// The message for an invalid resource; off the hot path.
Status refuse(const Resource& resource);

inline hal::Access access_of(const Resource& resource) {
  const auto said = static_cast<hal::Access>(resource.slot >> hal::kSlotAccessShift);
  if (said != hal::Access::kNone) return said;
  const bool constant = resource.buffer && !has_all(resource.buffer->usage(), hal::BufferUsage::kDispatchWrite);
  return constant ? hal::Access::kRead : hal::Access::kReadWrite;
}

// False when there is something to refuse().
inline bool is_resource(const Resource& resource) {
  return static_cast<uint64_t>(resource.slot) >> hal::kSlotAccessShift <= 3 && resource.offset >= 0 &&
         resource.length >= -1;
}

// What a resource means; whether it fits its buffer and its use is for the command that takes it.
inline hal::Binding binding_of(const Resource& resource) {
  hal::Binding binding;
  binding.buffer = resource.buffer;
  binding.slot = static_cast<uint32_t>(resource.slot);
  binding.access = access_of(resource);
  binding.offset = static_cast<uint64_t>(resource.offset);
  binding.length = static_cast<uint64_t>(resource.length);  // -1 is kWholeLength
  if (resource.buffer && resource.length < 0)
    binding.length = hal::range_length({resource.buffer, binding.offset, hal::kWholeLength});
  return binding;
}

// Writes `binding` on success.
inline Status to_binding(const Resource& resource, hal::Binding& binding) {
  if (!is_resource(resource)) [[unlikely]]
    return refuse(resource);
  binding = binding_of(resource);
  return {};
}
static_assert(static_cast<uint64_t>(-1) == hal::kWholeLength);

}  // namespace baton::modules

namespace baton::sdk::detail {

template <>
struct Parameter<modules::Resource> {
  static constexpr bool kChecked = true;
  static constexpr int kValues = 3, kRefs = 1;
  template <typename Out>
  static constexpr void write(Out& out) {
    out('I');
    Parameter<hal::Buffer*>::write(out);
    write_text(out, "II");
  }
  static const char* mismatch(Cursor& at) {
    at.values += kValues;
    return Parameter<hal::Buffer*>::mismatch(at);
  }
  static modules::Resource read(Cursor& at) {
    const baton_value* values = std::exchange(at.values, at.values + kValues);
    return {values[0].i64, Parameter<hal::Buffer*>::read(at), values[1].i64, values[2].i64};
  }
};

}  // namespace baton::sdk::detail
