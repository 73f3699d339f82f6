// A command lists its fields once, in a static `visit(command, visitor)`. Retention, slots, deep copies,
// text, JSON and hazards are visitors, so that a new command gets them all.
//
// A visitor derives from FieldVisitor and hides the functions for the fields it cares about. `Command` may be const;
// deep copies are the visitor that changes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "hal/binding.hpp"

namespace baton::hal {

class Executable;

// Whether a use reads, writes, or both.
constexpr Access access_of(BufferUsage usage) {
  constexpr BufferUsage reads = BufferUsage::kTransferSource | BufferUsage::kDispatchRead | BufferUsage::kIndirectGrid;
  constexpr BufferUsage writes = BufferUsage::kTransferTarget | BufferUsage::kDispatchWrite;
  return (has_any(usage, reads) ? Access::kRead : Access::kNone) |
         (has_any(usage, writes) ? Access::kWrite : Access::kNone);
}
// What of `bound` a binding in a list really uses: a dispatch that only reads needs no dispatch_write.
constexpr BufferUsage usage_of(const Binding& binding, BufferUsage bound) {
  if (bound != BufferUsage::kDispatch) return bound;
  return binding.access == Access::kRead ? BufferUsage::kDispatchRead : BufferUsage::kDispatch;
}

struct FieldVisitor {
  // A range, and the one use that the command makes of it.
  template <typename B>
  void binding(std::string_view, B&, BufferUsage) {}
  // Ranges, each of which states its access itself; the usage is the upper bound. kNone: the command names them and
  // touches nothing.
  template <typename Bindings>
  void bindings(std::string_view, Bindings&, BufferUsage) {}
  // Shared objects the command needs until it is done: executable, function, channel.
  template <typename Object>
  void object(std::string_view, Object*) {}
  void entry_point(std::string_view, const Executable*, uint32_t) {}
  void integer(std::string_view, uint64_t) {}
  void word(std::string_view, std::string_view) {}
  void grid(std::string_view, const uint32_t (&)[3]) {}
  template <typename Words>
  void constants(std::string_view, Words&) {}
  template <typename Slots>
  void constant_slots(std::string_view, Slots&) {}
  template <typename Bytes>
  void bytes(std::string_view, Bytes&) {}
};

}  // namespace baton::hal
