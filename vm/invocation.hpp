// Invocation: runs one function at a time in storage that is made once and used again. A warm call allocates nothing,
// takes no lock and looks nothing up by name.
//
// invoke() blocks until the function is done, waiting where it suspends. begin() and resume() serve an event loop
// instead: they come back with kSuspended when the function yields or waits; waiting_on() says for what. Threads:
// externally synchronized, but for cancel(), which any thread may call. Several invocations may be in flight in one
// context.
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

  // Arguments and results are slots in signature order, values and references alike. Counts are checked. Reference
  // arguments are borrowed; reference results are owned by the caller. Results are written only on success.
  Status invoke(const ExportedFunction& function, std::span<const Value> arguments, std::span<Value> results);

  Result<Outcome> begin(const ExportedFunction& function, std::span<const Value> arguments);
  Result<Outcome> resume();                                   // waits for nothing: may stay suspended
  Status take_results(std::span<Value> results);              // after kDone
  Object* waiting_on() const { return machine_.waiting_on; }  // while suspended: what to wait for; null after a yield
  // Ends a suspended call without finishing it.
  void abandon();

  // Stops the call in flight, and every later one until clear_cancel(): a cancellation that comes just before a call is
  // not lost. From any thread.
  void cancel() { machine_.cancelled.store(true, std::memory_order_relaxed); }
  void clear_cancel() { machine_.cancelled.store(false, std::memory_order_relaxed); }
  // Instructions that the calls of this invocation may execute from here on, all together; 0 for no limit.
  void set_instruction_budget(uint64_t instructions);
  uint64_t instructions() const { return machine_.instructions; }  // counted while there is a budget or a tracer
  // A point of the monotonic clock (monotonic_clock_ns()) after which calls trap, 0 for none.
  void set_deadline(int64_t deadline_ns) { machine_.deadline_ns = deadline_ns; }
  void set_tracer(Tracer* tracer);  // null for none

 private:
  void lay_out(void* storage, const InvocationOptions& options);
  Status start(const ExportedFunction& function, std::span<const Value> arguments);
  Status check_room(const ExportedFunction& function) const;
  void place_mixed_arguments(std::span<const Value> arguments);
  void drop_results();
  void move_results(std::span<Value> results);
  Status advance();
  Status settle(RunOutcome outcome);
  Status trapped();
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
