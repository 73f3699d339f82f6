#include "vm/invocation.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/check.hpp"
#include "bytecode/instruction_reader.hpp"
#include "vm/interpreter.hpp"

namespace baton::vm {
namespace {

// How long one wait may last before cancellation and deadline are looked at again.
constexpr int64_t kWaitSliceNs = 5'000'000;

size_t result_count(const ExportedFunction& function) {
  return size_t{function.shape.result_values} + function.shape.result_refs;
}

Status wrong_result_count(const ExportedFunction& function, size_t given) {
  return failure(StatusCode::kInvalidArgument, "function '", function.name, "' has ", result_count(function),
                 " results, but room is given for ", given);
}

// Nothing when `limit` is not beyond `first`.
void release_refs(Object** first, const Object* const* limit) {
  for (Object** slot = first; slot < limit; ++slot) release_object(std::exchange(*slot, nullptr));
}

// Whether `object`, which may be null, is still not ready after timeout_ns.
bool is_pending(Object* object, int64_t timeout_ns) {
  return object && object->type->wait && object->type->wait(object, timeout_ns) == kStillPending;
}

}  // namespace

int64_t monotonic_clock_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

size_t Invocation::storage_bytes(const InvocationOptions& options) {
  return sizeof(Value) * options.stack_values + sizeof(Object*) * options.stack_refs +
         sizeof(Frame) * options.stack_frames;
}

Invocation::Invocation(Ref<Context> context, const InvocationOptions& options) : context_(std::move(context)) {
  owned_storage_ = context_->allocator().allocate_zeroed(storage_bytes(options), alignof(Frame));
  lay_out(owned_storage_, options);
}

Invocation::Invocation(Ref<Context> context, std::span<std::byte> storage, const InvocationOptions& options)
    : context_(std::move(context)) {
  BATON_CHECK(storage.size() >= storage_bytes(options));
  BATON_CHECK(reinterpret_cast<uintptr_t>(storage.data()) % alignof(Frame) == 0);
  std::memset(storage.data(), 0, storage_bytes(options));  // References begin null.
  lay_out(storage.data(), options);
}

void Invocation::lay_out(void* storage, const InvocationOptions& options) {
  machine_.values = static_cast<Value*>(storage);
  machine_.values_limit = machine_.values + options.stack_values;
  machine_.refs = reinterpret_cast<Object**>(machine_.values_limit);
  machine_.refs_limit = machine_.refs + options.stack_refs;
  machine_.frames = reinterpret_cast<Frame*>(machine_.refs_limit);
  machine_.frames_limit = machine_.frames + options.stack_frames;
  machine_.states = context_->module_states();
}

Invocation::~Invocation() {
  abandon();
  drop_results();
  context_->allocator().free(owned_storage_);
}

Status Invocation::invoke(const ExportedFunction& function, std::span<const Value> arguments,
                          std::span<Value> results) {
  if (results.size() != result_count(function)) [[unlikely]]
    return wrong_result_count(function, results.size());
  BATON_TRY(start(function, arguments));
  BATON_TRY(advance());
  while (machine_.suspension != Suspension::kNone) [[unlikely]] {
      wait();
      BATON_TRY(resume_once());
    }
  move_results(results);
  return {};
}

Result<Invocation::Outcome> Invocation::begin(const ExportedFunction& function, std::span<const Value> arguments) {
  if (machine_.suspension == Suspension::kNone) {
    drop_results();  // While function_ still says what they are.
    begun_ = function;
  }
  BATON_TRY(start(begun_, arguments));
  BATON_TRY(advance());
  return machine_.suspension == Suspension::kNone ? Outcome::kDone : Outcome::kSuspended;
}

Result<Invocation::Outcome> Invocation::resume() {
  if (machine_.suspension == Suspension::kNone) {
    return failure(StatusCode::kFailedPrecondition, "no call of this invocation is suspended");
  }
  const bool stays = is_pending(machine_.waiting_on, 0) && check_interrupts(machine_) == TrapKind::kNone;
  if (!stays) BATON_TRY(resume_once());
  return machine_.suspension == Suspension::kNone ? Outcome::kDone : Outcome::kSuspended;
}

Status Invocation::take_results(std::span<Value> results) {
  if (machine_.suspension != Suspension::kNone || !finished_) {
    return failure(StatusCode::kFailedPrecondition, "no call of this invocation has finished");
  }
  if (results.size() != result_count(*function_)) return wrong_result_count(*function_, results.size());
  move_results(results);
  return {};
}

void Invocation::abandon() {
  if (machine_.suspension == Suspension::kNone) return;
  machine_.suspension = Suspension::kNone;
  release_object(std::exchange(machine_.waiting_on, nullptr));
  unwind();
}

void Invocation::set_instruction_budget(uint64_t instructions) {
  machine_.instruction_budget = instructions;
  machine_.instructions = 0;
}

void Invocation::set_tracer(Tracer* tracer) { machine_.tracer = tracer; }

// Results of an earlier call that nobody took.
void Invocation::drop_results() {
  if (!finished_) return;
  finished_ = false;
  release_refs(machine_.refs, machine_.refs + function_->shape.result_refs);
}

// Puts the arguments where the function expects them and makes its frame the bottom one.
Status Invocation::start(const ExportedFunction& function, std::span<const Value> arguments) {
  if (machine_.suspension != Suspension::kNone) [[unlikely]] {
    return failure(StatusCode::kFailedPrecondition, "a call of this invocation is still suspended");
  }
  drop_results();
  machine_.frame = nullptr;
  machine_.trap = check_interrupts(machine_);
  if (machine_.trap != TrapKind::kNone) [[unlikely]]
    return describe_trap(machine_);
  const bytecode::SignatureShape& shape = function.shape;
  if (arguments.size() != size_t{shape.argument_values} + shape.argument_refs || shape.segments != 0) [[unlikely]] {
    return failure(StatusCode::kInvalidArgument, "function '", function.name, "' takes ",
                   bytecode::describe_signature(function.signature), "; ", arguments.size(), " arguments were given");
  }
  BATON_TRY(check_room(function));
  function_ = &function;
  machine_.state = machine_.states + function.module;
  if (function.body) [[likely]] {
    machine_.window_values = machine_.values;
    machine_.window_refs = machine_.refs;
    machine_.frame = machine_.frames;
    *machine_.frame = {&kHaltCode, machine_.values, machine_.refs, machine_.state, function.body};
    machine_.pc = function.body->code;
  }
  if (shape.argument_refs == 0) [[likely]] {
    for (size_t i = 0; i < arguments.size(); ++i) machine_.values[i] = arguments[i];
  } else {
    place_mixed_arguments(arguments);
  }
  return {};
}

// The bottom frame, which no call instruction checks; a native function's registers are its arguments or its results.
Status Invocation::check_room(const ExportedFunction& function) const {
  const bytecode::SignatureShape& shape = function.shape;
  const Function* const body = function.body;
  const auto values = body ? body->value_registers : std::max(shape.argument_values, shape.result_values);
  const auto refs = body ? body->ref_registers : std::max(shape.argument_refs, shape.result_refs);
  const auto value_room = machine_.values_limit - machine_.values;
  const auto ref_room = machine_.refs_limit - machine_.refs;
  if (values <= value_room && refs <= ref_room && machine_.frames != machine_.frames_limit) [[likely]]
    return {};
  return failure(StatusCode::kResourceExhausted, "function '", function.name, "' needs ", values, " value and ", refs,
                 " reference registers and a frame, but the invocation's stack has ", value_room, ", ", ref_room,
                 " and ", machine_.frames_limit - machine_.frames);
}

void Invocation::place_mixed_arguments(std::span<const Value> arguments) {
  Value* next_value = machine_.values;
  Object** next_ref = machine_.refs;
  bytecode::SignatureCursor cursor(bytecode::arguments_of(function_->signature));
  for (const Value& argument : arguments) {
    cursor.next();
    if (bytecode::is_ref(cursor.type())) {
      retain_object(argument.ref);
      *next_ref++ = argument.ref;
    } else {
      *next_value++ = argument;
    }
  }
}

void Invocation::move_results(std::span<Value> results) {
  finished_ = false;
  if (function_->shape.result_refs == 0) [[likely]] {
    for (size_t i = 0; i < results.size(); ++i) results[i] = machine_.values[i];
    return;
  }
  const Value* next_value = machine_.values;
  Object** next_ref = machine_.refs;
  bytecode::SignatureCursor cursor(bytecode::results_of(function_->signature));
  for (Value& result : results) {
    cursor.next();
    result = bytecode::is_ref(cursor.type()) ? Value::of(std::exchange(*next_ref++, nullptr)) : *next_value++;
  }
}

// Runs until the call is done or suspended; a trap ends it.
Status Invocation::advance() {
  if (!function_->body) [[unlikely]]
    return call_native_export(nullptr);
  return settle(run(machine_));
}

Status Invocation::settle(RunOutcome outcome) {
  if (outcome == RunOutcome::kDone) [[likely]] {
    finished_ = true;
    return {};
  }
  if (outcome == RunOutcome::kSuspended) return {};
  return trapped();
}

Status Invocation::trapped() {
  Status status = describe_trap(machine_);
  unwind();
  return status;
}

// Releases what the frames hold, and what a native function that failed wanted to wait for.
void Invocation::unwind() {
  release_object(std::exchange(machine_.call.pending, nullptr));
  release_refs(machine_.refs, registers_end());
}

// Above it every slot is null already. The newest frame may end before one of its callers: what a caller held beyond
// its call's arguments stays there until the caller returns.
Object** Invocation::registers_end() const {
  const bytecode::SignatureShape& shape = function_->shape;
  if (!machine_.frame) return machine_.refs + std::max(shape.argument_refs, shape.result_refs);
  Object** end = machine_.window_refs + machine_.frame->function->ref_registers;
  for (const Frame* frame = machine_.frame; frame != machine_.frames; --frame) {
    end = std::max(end, frame->refs + (frame - 1)->function->ref_registers);
  }
  return end;
}

// A host calls a native function: no frame, its registers are the bottom of the stack.
Status Invocation::call_native_export(Object* resumed) {
  NativeCall& call = machine_.call;
  call = {.state = machine_.state->native_state,
          .data = function_->native.data,
          .values = machine_.values,
          .refs = machine_.refs,
          .segments = nullptr,
          .pending = nullptr,
          .resumed = resumed};
  Status::Failure* failed = function_->native.body(&call);
  call.resumed = nullptr;
  if (failed) {
    unwind();
    return Status::adopt(failed);
  }
  if (call.pending) {
    machine_.waiting_on = std::exchange(call.pending, nullptr);
    machine_.suspension = Suspension::kPendingExport;
    return {};
  }
  release_refs(machine_.refs + function_->shape.result_refs, machine_.refs + function_->shape.argument_refs);
  finished_ = true;
  return {};
}

// Blocks until what the call waits for is ready, in slices, so that cancellation and deadline still reach it.
void Invocation::wait() const {
  while (is_pending(machine_.waiting_on, kWaitSliceNs) && check_interrupts(machine_) == TrapKind::kNone) {
  }
}

Status Invocation::resume_once() {
  const Suspension suspension = std::exchange(machine_.suspension, Suspension::kNone);
  const Ref<Object> waited = Ref<Object>::adopt(std::exchange(machine_.waiting_on, nullptr));
  machine_.trap = check_interrupts(machine_);
  if (machine_.trap != TrapKind::kNone) return trapped();
  switch (suspension) {
    case Suspension::kPendingExport: return call_native_export(waited.get());
    case Suspension::kPendingImport:
      BATON_TRY(finish_pending_import(waited.get()));
      if (machine_.suspension != Suspension::kNone) return {};
      return advance();
    default: return advance();
  }
}

// Calls the import again, on the registers it was called with, and steps over the call when it is done.
Status Invocation::finish_pending_import(Object* resumed) {
  NativeCall& call = machine_.call;
  const ImportSlot& slot = machine_.state->imports[bytecode::read_u16<1>(machine_.pc)];
  call.resumed = resumed;
  machine_.failure = slot.native.body(&call);
  call.resumed = nullptr;
  if (machine_.failure) {
    machine_.trap = TrapKind::kNativeFailed;
    return trapped();
  }
  if (call.pending) {
    machine_.waiting_on = std::exchange(call.pending, nullptr);
    machine_.suspension = Suspension::kPendingImport;
    return {};
  }
  release_refs(call.refs + slot.shape.result_refs, call.refs + argument_refs(slot, call.segments));
  machine_.pc += bytecode::instruction_words(machine_.pc, bytecode::info(bytecode::read_opcode(machine_.pc)));
  return {};
}

}  // namespace baton::vm
