#include "vm/invocation.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "bytecode/instruction_reader.hpp"
#include "vm/interpreter.hpp"

namespace baton::vm {
namespace {

// How long one wait may last before cancellation and deadline are looked at again.
constexpr int64_t kWaitSliceNs = 5'000'000;

// How many words may run between two looks at cancellation and deadline: 2 to 4 ms of additions. A program with longer
// runs of code without a branch looks after fewer branches; one with runs beyond kStretchMax counts instructions.
constexpr uint64_t kWordsBetweenLooks = uint64_t{1} << 19;
constexpr uint64_t kStretchMax = uint64_t{1} << 20;

size_t result_count(const ExportedFunction& function) {
  return size_t{function.shape.result_values} + function.shape.result_refs;
}

Status wrong_result_count(const ExportedFunction& function, size_t given) {
  return failure(StatusCode::kInvalidArgument, "function '", function.name, "' has ", result_count(function),
                 " results, but room is given for ", given);
}

struct Registers {
  int64_t values, refs;
};
// A native function's are its arguments or its results.
Registers registers_of(const ExportedFunction& function) {
  const bytecode::SignatureShape& shape = function.shape;
  if (const Function* const body = function.body) [[likely]]
    return {body->value_registers, body->ref_registers};
  return {std::max(shape.argument_values, shape.result_values), std::max(shape.argument_refs, shape.result_refs)};
}

// Nothing when `limit` is not beyond `first`.
void release_refs(Object** first, const Object* const* limit) {
  for (Object** slot = first; slot < limit; ++slot) release_object(std::exchange(*slot, nullptr));
}

// Whether `object`, which may be null, is still not ready after timeout_ns.
bool is_pending(Object* object, int64_t timeout_ns) {
  return object && object->type->wait && object->type->wait(object, timeout_ns) == kStillPending;
}

// The letters of a signature's arguments, one by one. The signature was checked when its module was.
class ArgumentLetters {
 public:
  explicit ArgumentLetters(std::string_view signature) : at_(signature.data()) {}
  char next() {
    const char letter = *at_++;
    if (letter == 'r' && *at_ == '<') {
      while (*at_++ != '>') {
      }
    }
    return letter;
  }

 private:
  const char* at_;
};

Value slot_of(const Value& argument) { return argument; }
Value slot_of(const TypedValue& argument) { return argument.value; }

[[gnu::cold, gnu::noinline]] Status called_at_once(const Context& context) {
  return failure(StatusCode::kFailedPrecondition, "another thread is in a call of this context, and ",
                 *context.program().changes_shared(), ": one thread at a time may call it; make a context for each");
}

// 0 where `argument` may be a value of the type with this letter, which is none of a reference. A slot is of any type
// that it has no more bits than: the letters of 32 bits, i and f, are small ones.
uint64_t mismatch(const TypedValue& argument, char letter) {
  return static_cast<uint64_t>(static_cast<unsigned char>(argument.letter ^ letter));
}
uint64_t mismatch(const Value& argument, char letter) {
  return (argument.bits >> 32) & (0 - (static_cast<uint64_t>(letter) >> 5 & 1));
}
// The same for any type.
bool agrees(const TypedValue& argument, char letter) { return argument.letter == letter; }
bool agrees(const Value& argument, char letter) { return letter == 'r' || mismatch(argument, letter) == 0; }

std::string describe_mismatch(const TypedValue& argument) {
  const auto type = bytecode::value_type_from_letter(argument.letter);
  return type ? text("is of type ", bytecode::value_type_name(*type))
              : text("has the type letter ", static_cast<int>(argument.letter), ", which is none");
}
std::string describe_mismatch(const Value& argument) {
  return text("holds more than 32 bits (", hex(argument.bits), ")");
}

// Of arguments whose count is right.
template <typename Argument>
[[gnu::cold, gnu::noinline]] Status wrong_type(const ExportedFunction& function, std::span<const Argument> arguments) {
  bytecode::SignatureCursor cursor(bytecode::arguments_of(function.signature));
  for (size_t i = 0; i < arguments.size() && cursor.next(); ++i) {
    if (agrees(arguments[i], bytecode::value_type_letter(cursor.type()))) continue;
    return failure(StatusCode::kInvalidArgument, "function '", function.name, "' takes ",
                   bytecode::describe_signature(function.signature), "; argument ", i + 1, " ",
                   describe_mismatch(arguments[i]), ", where ", bytecode::value_type_name(cursor.type()), " is wanted");
  }
  return failure(StatusCode::kInternal, "function '", function.name, "' has an argument of no type");
}

}  // namespace

// A native function that calls back into the program does it on the machine that runs it.
Status Invocation::in_flight() const {
  if (machine_.suspension == Suspension::kRunning) {
    return failure(StatusCode::kFailedPrecondition, "a call of this invocation is running, function '", function_->name,
                   "': what it calls makes an invocation of its own to call more");
  }
  return failure(StatusCode::kFailedPrecondition, "a call of this invocation is still suspended");
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
  machine_.limits.cancelled = &machine_.own_cancelled;
  machine_.limits.caller = {place_of_call, &machine_};
  const uint64_t stretch = std::max<uint64_t>(context_->program().longest_stretch(), 1);
  machine_.fuel_quantum = std::clamp<uint64_t>(kWordsBetweenLooks / stretch, 1, kFuelQuantum);
  machine_.looks_while_counting = stretch > kStretchMax;
}

Invocation::~Invocation() {
  abandon();
  drop_results();
  context_->allocator().free(owned_storage_);
}

// Where calls change what they share: unless another thread is in one.
template <typename Run>
[[gnu::noinline]] auto Invocation::in_turn(const Run& run) -> decltype(run()) {
  if (!context_->enter()) return called_at_once(*context_);
  auto outcome = run();
  context_->leave();
  return outcome;
}

Status Invocation::invoke(const ExportedFunction& function, std::span<const TypedValue> arguments,
                          std::span<Value> results) {
  return run_to_end(function, arguments, results);
}
Status Invocation::invoke_slots(const ExportedFunction& function, std::span<const Value> arguments,
                                std::span<Value> results) {
  return run_to_end(function, arguments, results);
}
Result<Invocation::Outcome> Invocation::begin(const ExportedFunction& function, std::span<const TypedValue> arguments) {
  return run_on(function, arguments);
}
Result<Invocation::Outcome> Invocation::begin_slots(const ExportedFunction& function,
                                                    std::span<const Value> arguments) {
  return run_on(function, arguments);
}

template <typename Argument>
[[gnu::always_inline]] inline Status Invocation::run_to_end(const ExportedFunction& function,
                                                            std::span<const Argument> arguments,
                                                            std::span<Value> results) {
  if (results.size() != result_count(function)) [[unlikely]]
    return wrong_result_count(function, results.size());
  if (context_->takes_turns()) [[unlikely]]
    return in_turn([&]() -> Status { return run_here(function, arguments, results); });
  return run_here(function, arguments, results);
}

template <typename Argument>
[[gnu::always_inline]] inline Status Invocation::run_here(const ExportedFunction& function,
                                                          std::span<const Argument> arguments,
                                                          std::span<Value> results) {
  BATON_TRY(start(function, arguments));
  const WorkLimits::Scope limits(&machine_.limits);
  if (function_->body) [[likely]] {
    const RunOutcome outcome = run(machine_);
    if (outcome == RunOutcome::kDone) [[likely]] {
      machine_.suspension = Suspension::kNone;
      move_results(results);
      return {};
    }
    BATON_TRY(settle(outcome));
  } else {
    BATON_TRY(call_native_export(nullptr));
  }
  while (machine_.suspension != Suspension::kNone) [[unlikely]] {
      wait();
      BATON_TRY(resume_once());
    }
  move_results(results);
  return {};
}

bool Invocation::runs_in_place(const ExportedFunction& function) const {
  return function.body && function.shape.segments == 0 && has_room(function);
}

Status Invocation::run_in_place(const ExportedFunction& function) {
  if (context_->takes_turns()) [[unlikely]]
    return run_in_turn(function);
  return run_entered(function);
}

Status Invocation::run_in_turn(const ExportedFunction& function) {
  Status status = in_turn([&]() -> Status { return run_entered(function); });
  if (!status.ok())
    release_refs(machine_.refs, machine_.refs + function.shape.argument_refs);  // It may not have begun.
  return status;
}

[[gnu::always_inline]] inline Status Invocation::run_entered(const ExportedFunction& function) {
  function_ = &function;
  machine_.state = machine_.states + function.module;
  machine_.suspension = Suspension::kRunning;
  enter(function);
  machine_.trap = check_interrupts(machine_);
  if (machine_.trap != TrapKind::kNone) [[unlikely]]
    return trapped();
  const WorkLimits::Scope limits(&machine_.limits);
  const RunOutcome outcome = run(machine_);
  if (outcome == RunOutcome::kDone) [[likely]] {
    machine_.suspension = Suspension::kNone;
    return {};
  }
  return end_in_place(outcome);
}

Status Invocation::end_in_place(RunOutcome outcome) {
  if (outcome == RunOutcome::kTrapped) return trapped();
  while (machine_.suspension != Suspension::kNone) {
    wait();
    BATON_TRY(resume_once());
  }
  finished_ = false;  // The results are the caller's.
  return {};
}

template <typename Argument>
Result<Invocation::Outcome> Invocation::run_on(const ExportedFunction& function, std::span<const Argument> arguments) {
  if (context_->takes_turns()) return in_turn([&] { return run_on_here(function, arguments); });
  return run_on_here(function, arguments);
}

template <typename Argument>
Result<Invocation::Outcome> Invocation::run_on_here(const ExportedFunction& function,
                                                    std::span<const Argument> arguments) {
  if (machine_.suspension == Suspension::kNone) {
    drop_results();  // While function_ still says what they are.
    begun_ = function;
  }
  BATON_TRY(start(begun_, arguments));
  const WorkLimits::Scope limits(&machine_.limits);
  BATON_TRY(advance());
  return machine_.suspension == Suspension::kNone ? Outcome::kDone : Outcome::kSuspended;
}

Result<Invocation::Outcome> Invocation::resume() {
  if (machine_.suspension == Suspension::kRunning) return in_flight();
  if (machine_.suspension == Suspension::kNone) {
    return failure(StatusCode::kFailedPrecondition, "no call of this invocation is suspended");
  }
  if (context_->takes_turns()) return in_turn([&] { return resume_here(); });
  return resume_here();
}

Result<Invocation::Outcome> Invocation::resume_here() {
  const WorkLimits::Scope limits(&machine_.limits);
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
  if (machine_.suspension == Suspension::kNone || machine_.suspension == Suspension::kRunning) return;
  machine_.suspension = Suspension::kNone;
  release_object(std::exchange(machine_.waiting_on, nullptr));
  unwind();
}

void Invocation::set_instruction_budget(uint64_t instructions) {
  machine_.instruction_budget = instructions;
  machine_.instructions = 0;
}

void Invocation::set_tracer(Tracer* tracer) { machine_.tracer = tracer; }

// Results of an earlier call that were not taken.
[[gnu::noinline]] void Invocation::drop_results() {
  if (!finished_) return;
  finished_ = false;
  release_refs(machine_.refs, machine_.refs + function_->shape.result_refs);
}

// Puts the arguments where the function expects them and makes its frame the bottom one.
template <typename Argument>
[[gnu::always_inline]] inline Status Invocation::start(const ExportedFunction& function,
                                                       std::span<const Argument> arguments) {
  if (machine_.suspension != Suspension::kNone) [[unlikely]]
    return in_flight();
  if (finished_) [[unlikely]]
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
  if (!has_room(function)) [[unlikely]]
    return no_room(function);
  function_ = &function;
  machine_.state = machine_.states + function.module;
  if (function.body) [[likely]]
    enter(function);
  const bool typed = shape.argument_refs == 0 ? place_values(arguments) : place_mixed(arguments);
  if (typed) [[likely]] {
    machine_.suspension = Suspension::kRunning;
    return {};
  }
  release_refs(machine_.refs, machine_.refs + shape.argument_refs);
  return wrong_type(function, arguments);
}

// Makes the frame of a function of bytecode the bottom one.
[[gnu::always_inline]] inline void Invocation::enter(const ExportedFunction& function) {
  machine_.window_values = machine_.values;
  machine_.window_refs = machine_.refs;
  machine_.frame = machine_.frames;
  *machine_.frame = {&kHaltCode, machine_.values, machine_.refs, machine_.state, function.body};
  machine_.pc = function.body->code;
}

// Whether all have the right type. Without references each letter of the signature is an argument.
template <typename Argument>
[[gnu::always_inline]] inline bool Invocation::place_values(std::span<const Argument> arguments) {
  const char* const letters = function_->signature.data();
  uint64_t mismatches = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    mismatches |= mismatch(arguments[i], letters[i]);
    machine_.values[i] = slot_of(arguments[i]);
  }
  return mismatches == 0;
}

// The bottom frame, which no call instruction checks.
bool Invocation::has_room(const ExportedFunction& function) const {
  const Registers needed = registers_of(function);
  return needed.values <= machine_.values_limit - machine_.values &&
         needed.refs <= machine_.refs_limit - machine_.refs && machine_.frames != machine_.frames_limit;
}

Status Invocation::no_room(const ExportedFunction& function) const {
  const auto [values, refs] = registers_of(function);
  const auto value_room = machine_.values_limit - machine_.values;
  const auto ref_room = machine_.refs_limit - machine_.refs;
  return failure(StatusCode::kResourceExhausted, "function '", function.name, "' needs ", values, " value and ", refs,
                 " reference registers and a frame, but the invocation's stack has ", value_room, ", ", ref_room,
                 " and ", machine_.frames_limit - machine_.frames);
}

// Nothing that is no reference is touched as if it were one.
template <typename Argument>
[[gnu::noinline]] bool Invocation::place_mixed(std::span<const Argument> arguments) {
  Value* next_value = machine_.values;
  Object** next_ref = machine_.refs;
  const bool has_refs_alone = function_->shape.argument_values == 0;
  ArgumentLetters letters(function_->signature);
  for (const Argument& argument : arguments) {
    const char letter = has_refs_alone ? 'r' : letters.next();
    if (!agrees(argument, letter)) [[unlikely]]
      return false;
    if (letter == 'r') {
      retain_object(slot_of(argument).ref);
      *next_ref++ = slot_of(argument).ref;
    } else {
      *next_value++ = slot_of(argument);
    }
  }
  return true;
}

void Invocation::move_results(std::span<Value> results) {
  finished_ = false;
  if (function_->shape.result_refs == 0) [[likely]] {
    for (size_t i = 0; i < results.size(); ++i) results[i] = machine_.values[i];
    return;
  }
  if (function_->shape.result_refs == results.size()) {
    for (size_t i = 0; i < results.size(); ++i) results[i] = Value::of(std::exchange(machine_.refs[i], nullptr));
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
    machine_.suspension = Suspension::kNone;
    finished_ = true;
    return {};
  }
  if (outcome == RunOutcome::kSuspended) return {};
  return trapped();
}

Status Invocation::trapped() {
  Status status = describe_trap(machine_);
  const bool interrupted = machine_.trap == TrapKind::kDeadline || machine_.trap == TrapKind::kCancelled;
  if (interrupted) machine_.limits.stop_kept();
  machine_.suspension = Suspension::kNone;
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
  machine_.suspension = Suspension::kNone;
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
  const auto slice = [this] {
    if (machine_.limits.deadline_ns == 0) return kWaitSliceNs;
    return std::clamp<int64_t>(machine_.limits.deadline_ns - monotonic_clock_ns(), 0, kWaitSliceNs);
  };
  while (is_pending(machine_.waiting_on, slice()) && check_interrupts(machine_) == TrapKind::kNone) {
  }
}

Status Invocation::resume_once() {
  const Suspension suspension = std::exchange(machine_.suspension, Suspension::kRunning);
  const Ref<Object> waited = Ref<Object>::adopt(std::exchange(machine_.waiting_on, nullptr));
  machine_.trap = check_interrupts(machine_);
  if (machine_.trap != TrapKind::kNone) return trapped().with_context(describe_wait(suspension));
  switch (suspension) {
    case Suspension::kPendingExport: return call_native_export(waited.get());
    case Suspension::kPendingImport:
      BATON_TRY(finish_pending_import(waited.get()));
      if (machine_.suspension != Suspension::kRunning) return {};
      return advance();
    default: return advance();
  }
}

// Names the function that was waiting when the call was ended.
std::string Invocation::describe_wait(Suspension suspension) const {
  if (suspension == Suspension::kPendingExport) return text("while '", function_->name, "' waited");
  if (suspension != Suspension::kPendingImport) return "while it was suspended";
  const auto import = bytecode::read_u16<1>(machine_.pc);
  return text("while import '", machine_.state->linked->bytecode->view().import(import).name, "' waited");
}

// Calls the import again, on the registers that its instruction names, and steps over the call when it is done. All
// calls of imports have import, value base and reference base in the same places; a list follows where there is one.
Status Invocation::finish_pending_import(Object* resumed) {
  const uint64_t* const pc = machine_.pc;
  const bytecode::InstructionInfo& row = bytecode::info(bytecode::read_opcode(pc));
  const ImportSlot& slot = machine_.state->imports[bytecode::read_u16<1>(pc)];
  Object** const refs = machine_.window_refs + bytecode::read_u16<3>(pc);
  const auto* const segments =
      slot.shape.segments != 0 ? reinterpret_cast<const uint16_t*>(pc + row.operands().words) : nullptr;
  NativeCall& call = fill_call(machine_, slot, machine_.window_values + bytecode::read_u16<2>(pc), refs, segments);
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
  release_refs(refs + slot.shape.result_refs, refs + argument_refs(slot, segments));
  machine_.pc += bytecode::instruction_words(pc, row);
  return {};
}

}  // namespace baton::vm
