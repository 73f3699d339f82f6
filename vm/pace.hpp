// Pace: how an instruction whose work grows with an operand stays interruptible. It pays for its work in fuel, and does
// what is long in stretches: between two of them deadline, cancellation and budget are looked at. So a hash of a
// gigabyte ends as soon as a loop of additions does.
//
// Threads: of the step that made it.
#pragma once

#include <cstdint>

#include "vm/stack.hpp"

namespace baton::vm {

// So many bytes are paid like one taken branch: copied in the time of a few, hashed in that of a hundred. A quantum of
// fuel is 64 KiB of them.
constexpr uint64_t kBytesPerFuel = 64;
constexpr uint64_t kStretchBytes = 128 * 1024;

class Pace {
 public:
  Pace(Machine& machine, const Allocator& allocator, uint64_t fuel)
      : machine_(machine), allocator_(allocator), fuel_(fuel) {}

  uint64_t fuel() const { return fuel_; }
  // Where what the program makes lives: the memory of its context.
  const Allocator& allocator() const { return allocator_; }

  // Before work on so many bytes: why it must not be done, if so.
  [[gnu::always_inline]] TrapKind spend(uint64_t bytes) {
    const uint64_t units = bytes / kBytesPerFuel;
    return units == 0 ? TrapKind::kNone : spend_units(units);
  }

  // Calls work(begin, end) for [0, size) in order, and stops where it must.
  template <typename Work>
  TrapKind in_stretches(uint64_t size, const Work& work) {
#ifdef __OPTIMIZE_SIZE__
    return call_in_stretches(size, Callback{&work, [](const void* self, uint64_t begin, uint64_t end) {
                                              (*static_cast<const Work*>(self))(begin, end);
                                            }});
#else
    return call_in_stretches(size, work);
#endif
  }
  // The same from the end on: for what is moved up over itself.
  template <typename Work>
  TrapKind in_stretches_from_end(uint64_t size, const Work& work) {
    return in_stretches(size, [&](uint64_t begin, uint64_t end) { work(size - end, size - begin); });
  }

 private:
  // Any work: small builds have one loop for all.
  struct Callback {
    const void* self;
    void (*call)(const void* self, uint64_t begin, uint64_t end);
    void operator()(uint64_t begin, uint64_t end) const { call(self, begin, end); }
  };
#ifdef __OPTIMIZE_SIZE__
#define BATON_APART [[gnu::noinline]]
#else
#define BATON_APART
#endif

  template <typename Work>
  BATON_APART TrapKind call_in_stretches(uint64_t size, const Work& work) {
    for (uint64_t at = 0; at < size;) {
      const uint64_t end = size - at < kStretchBytes ? size : at + kStretchBytes;
      if (const TrapKind trap = spend(end - at); trap != TrapKind::kNone) [[unlikely]]
        return trap;
      work(at, end);
      at = end;
    }
    return TrapKind::kNone;
  }

  BATON_APART TrapKind spend_units(uint64_t units) {
    if (machine_.instruction_budget != 0) [[unlikely]] {
      const uint64_t left = machine_.instruction_budget - machine_.instructions;
      machine_.instructions += units < left ? units : left;
      if (units > left) return TrapKind::kBudgetExhausted;
    }
    if (!__builtin_sub_overflow(fuel_, units, &fuel_)) [[likely]]
      return TrapKind::kNone;
    fuel_ = machine_.fuel_quantum;
    return check_interrupts(machine_);
  }

#undef BATON_APART

  Machine& machine_;
  const Allocator& allocator_;
  uint64_t fuel_;
};

}  // namespace baton::vm
