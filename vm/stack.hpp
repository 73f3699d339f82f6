// Machine: the registers and frames of one invocation, and what the step loop looks at when it has to stop.
//
// Windows overlap: a callee's register 0 is the caller's register `base`, so arguments and results are never copied.
// Frame sizes are known, so a call checks the three limits once and nothing else does. Every slot of the reference bank
// is null or owns a reference, always: a write releases what it replaces, a return releases the frame's registers but
// the results.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/work_limits.hpp"
#include "vm/context.hpp"
#include "vm/trap.hpp"

namespace baton::vm {

// What a return needs of the caller, and what a backtrace needs of the callee.
struct Frame {
  const uint64_t* return_pc;
  Value* values;             // the caller's
  Object** refs;             // the caller's
  ModuleState* state;        // the caller's
  const Function* function;  // the callee: the one that runs in this frame
};

// Taken branches and calls between two looks at cancellation and deadline, at most.
constexpr uint64_t kFuelQuantum = 1024;

enum class RunOutcome : uint8_t { kDone, kSuspended, kTrapped };
// kRunning: none, but a call is under way on this machine.
enum class Suspension : uint8_t { kNone, kRunning, kYield, kAwait, kPendingImport, kPendingExport };

struct Machine {
  Value* values = nullptr;  // bottom of each bank, and the first slot beyond
  Value* values_limit = nullptr;
  Object** refs = nullptr;
  Object** refs_limit = nullptr;
  Frame* frames = nullptr;
  Frame* frames_limit = nullptr;

  ModuleState* states = nullptr;  // of the context, by module

  // Where a run begins, goes on after a suspension, or was trapped; `pc` and `state` also where it calls a native function.
  const uint64_t* pc = nullptr;
  Value* window_values = nullptr;
  Object** window_refs = nullptr;
  Frame* frame = nullptr;  // null while the host's call is to a native function
  ModuleState* state = nullptr;
  Suspension suspension = Suspension::kNone;
  Object* waiting_on = nullptr;  // owned while suspended
  RunOutcome outcome = RunOutcome::kDone;
  TrapKind trap = TrapKind::kNone;
  Status::Failure* failure = nullptr;  // of the native function that failed; owned

  // Looked at when fuel runs out, and by devices. The flag may be another's (Invocation::watch).
  std::atomic<bool> own_cancelled{false};
  WorkLimits limits;
  uint64_t instruction_budget = 0;  // 0: none; counted by the instrumented steps only
  uint64_t instructions = 0;
  class Tracer* tracer = nullptr;

  NativeCall call{};

  // Taken branches and calls between two looks, and whether even that is too long to wait (Program::longest_stretch).
  uint64_t fuel_quantum = kFuelQuantum;
  bool looks_while_counting = false;

  bool instrumented() const { return instruction_budget != 0 || tracer != nullptr || looks_while_counting; }
};

// The machine's call as a native function gets it. Filled anew each time: what a body left in it says nothing, but for
// `pending`.
[[gnu::always_inline]] inline NativeCall& fill_call(Machine& machine, const ImportSlot& slot, Value* values,
                                                    Object** refs, const uint16_t* segments) {
  NativeCall& call = machine.call;
  call.state = machine.states[slot.module].native_state;
  call.data = slot.native.data;
  call.values = values;
  call.refs = refs;
  call.segments = segments;
  return call;
}

// Where the machine, at `self`, calls a native function. Asked while that runs.
inline CallPlace place_of_call(const void* self) {
  const auto& machine = *static_cast<const Machine*>(self);
  return machine.frame ? machine.state->linked->bytecode->place(machine.pc) : CallPlace{};
}

using baton::monotonic_clock_ns;

// Why the machine has to stop where it is, if it has to.
inline TrapKind check_interrupts(const Machine& machine) {
  if (machine.limits.is_cancelled()) [[unlikely]]
    return TrapKind::kCancelled;
  if (machine.limits.deadline_ns != 0 && monotonic_clock_ns() >= machine.limits.deadline_ns) return TrapKind::kDeadline;
  return TrapKind::kNone;
}

}  // namespace baton::vm
