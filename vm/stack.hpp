// Machine: the registers and frames of one invocation, and what the step loop looks at when it has to stop.
//
// Windows overlap: a callee's register 0 is the caller's register `base`, so arguments and results are never copied.
// Frame sizes are known, so a call checks the three limits once and nothing else does. Every slot of the reference bank
// is null or owns a reference, always: a write releases what it replaces, a return releases the frame's registers but
// the results.
#pragma once

#include <atomic>
#include <cstdint>

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

enum class RunOutcome : uint8_t { kDone, kSuspended, kTrapped };
enum class Suspension : uint8_t { kNone, kYield, kAwait, kPendingImport, kPendingExport };

struct Machine {
  Value* values = nullptr;  // bottom of each bank, and the first slot beyond
  Value* values_limit = nullptr;
  Object** refs = nullptr;
  Object** refs_limit = nullptr;
  Frame* frames = nullptr;
  Frame* frames_limit = nullptr;

  ModuleState* states = nullptr;  // of the context, by module

  // Where a run begins, goes on after a suspension, or was trapped.
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

  // Looked at when fuel runs out: on every kFuelQuantum-th taken branch or call.
  std::atomic<bool> cancelled{false};
  int64_t deadline_ns = 0;
  uint64_t instruction_budget = 0;  // 0: none; counted by the instrumented steps only
  uint64_t instructions = 0;
  class Tracer* tracer = nullptr;

  NativeCall call{};

  bool instrumented() const { return instruction_budget != 0 || tracer != nullptr; }
};

// Nanoseconds of the clock that deadlines are points of.
int64_t monotonic_clock_ns();

// Why the machine has to stop where it is, if it has to.
inline TrapKind check_interrupts(const Machine& machine) {
  if (machine.cancelled.load(std::memory_order_relaxed)) [[unlikely]]
    return TrapKind::kCancelled;
  if (machine.deadline_ns != 0 && monotonic_clock_ns() >= machine.deadline_ns) return TrapKind::kDeadline;
  return TrapKind::kNone;
}

}  // namespace baton::vm
