// Invocation: runs one function at a time in storage that is made once and used again. A warm call allocates nothing,
// takes no lock and looks nothing up by name.
//
// invoke() blocks until the function is done, waiting where it suspends. begin() and resume() serve an event loop
// instead: they come back with kSuspended when the function yields or waits; waiting_on() says for what.
// Threads: externally synchronized, but for cancel(), which any thread may call. Several invocations may be in flight
// in one context.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"
#include "vm/context.hpp"
#include "vm/stack.hpp"

namespace baton::vm {

class Tracer;

struct InvocationOptions {
  uint32_t stack_values = 16 * 1024;  // value registers of all frames together
  uint32_t stack_refs = 4 * 1024;
  uint32_t stack_frames = 2 * 1024;
};

class Invocation {
 public:
  enum class Outcome { kDone, kSuspended };

  explicit Invocation(Ref<Context> context, const InvocationOptions& options = {});
  // In storage of the caller, which outlives the invocation: storage_bytes(options) of it, aligned to 8.
  Invocation(Ref<Context> context, std::span<std::byte> storage, const InvocationOptions& options = {});
  static size_t storage_bytes(const InvocationOptions& options = {});
  ~Invocation();
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  // Arguments and results come in signature order, values and references alike. Types and counts are checked. Reference
  // arguments are borrowed; reference results are owned by the caller. Results are written only on success.
  Status invoke(const ExportedFunction& function, std::span<const TypedValue> arguments, std::span<Value> results);
  Result<Outcome> begin(const ExportedFunction& function, std::span<const TypedValue> arguments);
  // The same for slots, whose types whoever filled them read from the signature (TypedFunction, parsers of inputs):
  // refused is what cannot be a value of its type, more than 32 bits for an i32 or f32.
  Status invoke_slots(const ExportedFunction& function, std::span<const Value> arguments, std::span<Value> results);
  Result<Outcome> begin_slots(const ExportedFunction& function, std::span<const Value> arguments);

  // For callers that call one function many times and have checked its types. run_in_place() takes the arguments from
  // the first registers, with the references that they own, and leaves the results there; the caller then owns the
  // references in them and must clear their slots. A failed call leaves no reference. Before it no call of this
  // invocation may be suspended, and the results of earlier calls must have been taken.
  struct FirstRegisters {
    Value* values;
    Object** refs;
  };
  bool runs_in_place(const ExportedFunction& function) const;  // Asked once: a function of bytecode that has room.
  FirstRegisters first_registers() const { return {machine_.values, machine_.refs}; }
  Status run_in_place(const ExportedFunction& function);

  Result<Outcome> resume();                                   // waits for nothing: may stay suspended
  Status take_results(std::span<Value> results);              // after kDone
  Object* waiting_on() const { return machine_.waiting_on; }  // while suspended: what to wait for; null after a yield
  // Ends a suspended call without finishing it.
  void abandon();

  // Stops the call in flight, and every later one until clear_cancel(): a cancellation that comes just before a call is
  // not lost. From any thread.
  void cancel() { machine_.own_cancelled.store(true, std::memory_order_relaxed); }
  void clear_cancel() { machine_.own_cancelled.store(false, std::memory_order_relaxed); }
  // Obeys a flag of the caller's in the place of cancel(); null for its own again. It outlives the calls.
  void watch(const std::atomic<bool>* cancelled) {
    machine_.limits.cancelled = cancelled ? cancelled : &machine_.own_cancelled;
  }
  // Instructions that the calls of this invocation may execute from here on, all together; 0 for no limit. One that
  // works on many bytes counts once more for each 64 of them.
  void set_instruction_budget(uint64_t instructions);
  uint64_t instructions() const { return machine_.instructions; }  // counted while there is a budget or a tracer
  // A point of the monotonic clock (monotonic_clock_ns()) after which calls trap, 0 for none. What they have local
  // devices do ends with it too, between workgroups, as it does when a call is cancelled.
  void set_deadline(int64_t deadline_ns) { machine_.limits.deadline_ns = deadline_ns; }
  void set_tracer(Tracer* tracer);  // null for none

 private:
  void lay_out(void* storage, const InvocationOptions& options);
  template <typename Argument>
  Status run_to_end(const ExportedFunction& function, std::span<const Argument> arguments, std::span<Value> results);
  template <typename Argument>
  Status run_here(const ExportedFunction& function, std::span<const Argument> arguments, std::span<Value> results);
  template <typename Run>
  auto in_turn(const Run& run) -> decltype(run());
  void enter(const ExportedFunction& function);
  [[gnu::noinline]] Status run_in_turn(const ExportedFunction& function);
  Status run_entered(const ExportedFunction& function);
  [[gnu::noinline]] Status end_in_place(RunOutcome outcome);
  Result<Outcome> resume_here();
  template <typename Argument>
  Result<Outcome> run_on_here(const ExportedFunction& function, std::span<const Argument> arguments);
  template <typename Argument>
  Result<Outcome> run_on(const ExportedFunction& function, std::span<const Argument> arguments);
  template <typename Argument>
  Status start(const ExportedFunction& function, std::span<const Argument> arguments);
  [[gnu::cold, gnu::noinline]] Status in_flight() const;
  bool has_room(const ExportedFunction& function) const;
  [[gnu::cold, gnu::noinline]] Status no_room(const ExportedFunction& function) const;
  template <typename Argument>
  bool place_values(std::span<const Argument> arguments);
  template <typename Argument>
  bool place_mixed(std::span<const Argument> arguments);
  void drop_results();
  void move_results(std::span<Value> results);
  Status advance();
  Status settle(RunOutcome outcome);
  Status trapped();
  std::string describe_wait(Suspension suspension) const;
  void unwind();
  Object** registers_end() const;
  void wait() const;
  Status resume_once();
  Status call_native_export(Object* resumed);
  Status finish_pending_import(Object* resumed);

  Ref<Context> context_;
  Machine machine_;
  void* owned_storage_ = nullptr;               // null when the caller provides it
  const ExportedFunction* function_ = nullptr;  // of the call in flight or just finished
  ExportedFunction begun_;                      // what function_ points to when it may outlive the caller's
  bool finished_ = false;                       // results stand in the first registers
};

}  // namespace baton::vm
