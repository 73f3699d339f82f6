// The step loop and nothing else. One body for each instruction, two ways to go from one to the next:
//
//   tail calls      clang 19: every step is a function that ends in a jump to the next one. preserve_none keeps the eight
//                   words of the loop in registers, the first four in ones that survive calls to C.
//   computed goto   g++ 12 and sanitizers: the same bodies as labels in one function.
//
// Most steps are made from their row of isa.inc by vm/operands.hpp; those that change frames or end the run are written
// in vm/ops/control.inc. A step reads its own operands and never the next instruction's, except for the opcode.
//
// Stopping a running program costs one decrement per taken branch or call: when `fuel` is used up the loop looks
// whether it was cancelled or its deadline has passed. Counting instructions and tracing cost nothing until asked for:
// then the loop runs from a second table in which every step counts, traces, and goes on to the real one.
#include "vm/interpreter.hpp"

#include <algorithm>

#include "base/sanitizers.hpp"
#include "vm/operands.hpp"
#include "vm/tracer.hpp"

#if BATON_ADDRESS_SANITIZER || BATON_THREAD_SANITIZER || BATON_MEMORY_SANITIZER
#define BATON_TAIL_CALLS 0
#elif defined(__clang__) && __has_attribute(preserve_none)
#define BATON_TAIL_CALLS 1
#endif

namespace baton::vm {

const uint64_t kHaltCode =
    0;  // Opcode 0 is no instruction: verified code has none, so only the bottom frame gets here.

namespace {

using bytecode::kOpcodeLimit;
using bytecode::load_u16;
using bytecode::read_label;
using bytecode::read_opcode;
using bytecode::read_u16;
using bytecode::read_u32;

// What an instruction pays of the fuel that is left until the next look at cancellation and deadline. A native call may
// take as long as many branches; so may the cosine of a large number (100 ns), a remainder whose exponents are far
// apart (2.8 us), and making a list.
constexpr uint64_t kBranchFuel = 1;
constexpr uint64_t kNativeCallFuel = 64;
constexpr uint64_t kSlowFuel = 16;
// Instructions between two looks where code without a branch is too long to wait for the next one.
constexpr uint64_t kCountedQuantum = 4096;

// Counts and traces one instruction that is about to run.
TrapKind instrument(Machine& machine, const uint64_t* pc, Frame* frame, ModuleState* state) {
  if (*pc == kHaltCode) return TrapKind::kNone;  // The way out is no instruction: it is free, and cannot trap.
  if (machine.instruction_budget != 0 && machine.instructions >= machine.instruction_budget) {
    return TrapKind::kBudgetExhausted;
  }
  ++machine.instructions;
  if (machine.looks_while_counting && machine.instructions % kCountedQuantum == 0) {
    if (const TrapKind kind = check_interrupts(machine); kind != TrapKind::kNone) return kind;
  }
  if (machine.tracer) {
    const Function& function = *frame->function;
    machine.tracer->instruction(*state->linked, function, static_cast<uint32_t>(pc - function.code));
  }
  return TrapKind::kNone;
}

void release_range(Object** refs, size_t count) {
  for (size_t i = 0; i < count; ++i) release_object(std::exchange(refs[i], nullptr));
}
// The same where most don't come to it: inlined, its loop takes the registers in which a step keeps the loop's words.
[[gnu::noinline]] void release_few(Object** refs, size_t count) { release_range(refs, count); }

// What stands behind a call.lend: the counts of its variadic segments, then the registers that it lends.
struct Loan {
  const uint16_t* segments;
  const uint16_t* places;
  size_t count;
  size_t list_words;
};
[[gnu::always_inline]] inline Loan read_loan(const ImportSlot& slot, const uint64_t* pc) {
  const size_t elements = read_u16<OperandOf<Opcode::call_lend, 3>::kHalf>(pc);
  const auto* const list = reinterpret_cast<const uint16_t*>(pc + kWords<Opcode::call_lend>);
  return {.segments = list,
          .places = list + slot.shape.segments,
          .count = elements - slot.shape.segments,
          .list_words = bytecode::list_words(OperandKind::kLent, elements)};
}

// Fills the callee's slots with what the lent registers hold, uncounted.
[[gnu::always_inline]] inline void borrow(Object** slots, Object* const* refs, const Loan& loan) {
  for (size_t i = 0; i < loan.count; ++i) {
    Object* const previous = slots[i];
    slots[i] = loan.places[i] == bytecode::kNoRegister ? nullptr : refs[loan.places[i]];
    if (previous) [[unlikely]]
      previous->release();
  }
}

// From here on the slots own what they hold.
[[gnu::always_inline]] inline void count(Object** slots, size_t slot_count) {
  for (size_t i = 0; i < slot_count; ++i) retain_object(slots[i]);
}

// Empties slots that own nothing.
[[gnu::always_inline]] inline void give_back(Object** slots, size_t slot_count) {
  for (size_t i = 0; i < slot_count; ++i) {
    slots[i] = nullptr;
    __asm__ volatile("");  // A few stores: made a call of memset they cost 3 ns.
  }
}

// Calls a native import on the caller's registers. Arguments are consumed: what is left in their slots is released, so
// that an object dies when its last use says so and not when the register is needed again.
// Notes where it is called from (place_of_call).
[[gnu::always_inline]] inline Status::Failure* call_native(Machine& machine, const uint64_t* pc, ModuleState* state,
                                                           const ImportSlot& slot, Value* values, Object** refs,
                                                           const uint16_t* segments) {
  machine.pc = pc;
  machine.state = state;
  return slot.native.body(&fill_call(machine, slot, values, refs, segments));
}

}  // namespace

// What the bodies are written in, besides the operands' names:
//   pc v r frame state fuel m   the loop's words: code, register windows, frame, module state, fuel, machine
//   OPERAND16(name, i)          operand i of instruction `name`
//   NEXT()                      goes to the instruction at pc
//   NEXT_PLAIN()                the same from the table that is not instrumented, PLAIN_STEPS()
//   TAKE(offset)                pc := where a taken branch goes
//   JUMPED(), CALLED_NATIVE(), WORKED()   NEXT() after a taken branch, a call, a slow instruction: spends fuel
//   TRAP(kind), EXIT(outcome)   leave the loop
//   GO_TO(name)                 continues as another body
#define OPERAND16(name, index) read_u16<OperandOf<Opcode::name, index>::kHalf>(pc)
#define OPERAND32(name, index) read_u32<OperandOf<Opcode::name, index>::kHalf>(pc)
#define WINDOW() \
  Window { v, r, state }
#define SAVE()            \
  do {                    \
    m->pc = pc;           \
    m->window_values = v; \
    m->window_refs = r;   \
    m->frame = frame;     \
    m->state = state;     \
  } while (false)
#define SPEND(amount)                                               \
  do {                                                              \
    if (__builtin_sub_overflow(fuel, (amount), &fuel)) [[unlikely]] \
      GO_TO(interrupt);                                             \
    NEXT();                                                         \
  } while (false)
#define CALLED_NATIVE() SPEND(kNativeCallFuel)
#ifdef __OPTIMIZE_SIZE__
// A jump more, 3 KB less over all branches and slow instructions.
#define JUMPED() GO_TO(jumped)
#define WORKED() GO_TO(worked)
#else
#define JUMPED() SPEND(kBranchFuel)
#define WORKED() SPEND(kSlowFuel)
#endif
// Behind calls of C, which would have to keep them.
#define FORGET() (sums = {})
#ifdef __OPTIMIZE_SIZE__
// Without the guess below: 0.7 KB less over all branches.
#define TAKE(offset) pc += (offset)
#else
// Where a branch goes is computed from the code that pc points to, so in a loop each iteration would wait for the one
// before it: load, shift, extend, add, 8 cycles, which is all that a short loop takes. `hot_pc` is where the last taken
// branch went; it is taken for the target before the sum is known, and the compare that proves it is a branch, which
// the processor predicts. The empty asm keeps the compiler from seeing that both are equal. (next.i32 alone: 2.5 → 1.2
// ns an iteration; add.imm.i32 and br.lt.s.i32: 3.4 → 1.95 ns.)
#define TAKE(offset)                              \
  do {                                            \
    const uint64_t* const target = pc + (offset); \
    pc = hot_pc;                                  \
    __asm__("" : "+r"(pc));                       \
    if (target != hot_pc) [[unlikely]] {          \
      pc = target;                                \
      __asm__ volatile("" : "+r"(pc));            \
      hot_pc = pc;                                \
    }                                             \
  } while (false)
#endif
#define TRAP(kind)            \
  do {                        \
    m->trap = TrapKind::kind; \
    GO_TO(trap);              \
  } while (false)

namespace {

// A product that is added at once: the sum runs in the step of the product, and takes it from there instead of waiting for
// its store (a step of a recurrence: 6.3 → 4.0 ns on AMD). Both stay two instructions: others may jump between them, and
// who counts or traces sees each. Whole numbers gain nothing: the processor hands them on without a wait on AMD, and
// pairs with branches cost more than they save.
template <Opcode kFirst>
inline constexpr Opcode kFollower{};
#ifndef __OPTIMIZE_SIZE__
template <>
inline constexpr Opcode kFollower<Opcode::mul_f32> = Opcode::add_f32;
template <>
inline constexpr Opcode kFollower<Opcode::mul_f64> = Opcode::add_f64;
#endif

// The last sum of a pair of each kind, in registers of the processor. In a recurrence (a polynomial, a filter) it is what the next
// product takes: a register of the VM is memory, and what is stored is there again five cycles later on Intel, seven on AMD. So
// the product takes it before the load is there, and the compare that proves it right is a branch, which the processor
// predicts. (x * a + b in a loop, on Intel: 2.87 → 2.43 ns in f64, 3.51 → 2.65 in f32. Asked of every float instruction: the same, and 6.2 → 9.2 ns where none of
// six takes what the one before made. Asked of additions of whole numbers: a counted loop 1.80 → 1.13 ns, others up to 8 % more.)
struct LastSums {
#ifndef __OPTIMIZE_SIZE__
  float f32 = 0;
  double f64 = 0;

  template <typename T>
  auto& of() {
    if constexpr (std::is_same_v<T, float>) {
      return f32;
    } else {
      return f64;
    }
  }
#endif
};

// Whether an instruction may end objects, which is a call of C.
template <Opcode kOpcode>
consteval bool may_release() {
  if ((bytecode::info(kOpcode).flags & bytecode::kGrows) != 0) return true;
  for (const bytecode::Operand& operand : bytecode::info(kOpcode).operands()) {
    const OperandKind kind = operand.kind;
    if (kind == OperandKind::kDefRef || kind == OperandKind::kTakeRef || kind == OperandKind::kGlobalRef) return true;
  }
  return false;
}

// Whether a pair begins at pc. The empty asm keeps the compiler from making one of two tests.
template <Opcode kFirst, typename Steps>
[[gnu::always_inline]] inline bool is_pair(const uint64_t* pc, const Steps* steps, const Steps* plain_steps) {
  if (kFollower<kFirst> == Opcode{} || read_opcode(pc + kWords<kFirst>) != kFollower<kFirst>) return false;
  __asm__ volatile("");
  return steps == plain_steps;
}

// Runs it, and is where the next instruction is.
template <Opcode kFirst, typename Sums>
[[gnu::always_inline]] inline const uint64_t* run_pair(const uint64_t* pc, const Window& window,
                                                       [[maybe_unused]] Sums& sums) {
  constexpr Opcode kSecond = kFollower<kFirst>;
  const uint64_t* const second = pc + kWords<kFirst>;
  if constexpr (kSecond != Opcode{}) {
    static_assert((bytecode::info(kSecond).flags & (bytecode::kTraps | bytecode::kSlow)) == 0);
    using T = SlotValue<OperandOf<kFirst, 1>::kSlot>;
    T& sum = sums.template of<T>();
    Value written;
    if (value_slot<kFirst, 1>(pc, window).bits == Value::of(sum).bits) [[likely]] {
      T guessed = sum;
      hold_in_register(guessed);
      run_pure<kFirst>(pc, WindowGuessed<T>{window, guessed}, written);
    } else {
      run_pure<kFirst>(pc, window, written);
    }
    run_pure<kSecond>(second, WindowBehind{window, load_u16<OperandOf<kFirst, 0>::kHalf>(pc), written}, written);
    sum = written.as<T>();
    return second + kWords<kSecond>;
  }
  return second;
}

}  // namespace

#define PURE_STEP(name)                                                           \
  STEP(name) {                                                                    \
    if (is_pair<Opcode::name>(pc, steps, PLAIN_STEPS())) {                        \
      pc = run_pair<Opcode::name>(pc, WINDOW(), sums);                            \
      NEXT();                                                                     \
    }                                                                             \
    Value written;                                                                \
    const TrapKind kind = run_pure<Opcode::name>(pc, WINDOW(), written);          \
    if constexpr ((bytecode::info(Opcode::name).flags & bytecode::kSlow) != 0) {  \
      FORGET();                                                                   \
    }                                                                             \
    if constexpr ((bytecode::info(Opcode::name).flags & bytecode::kTraps) != 0) { \
      if (kind != TrapKind::kNone) [[unlikely]] {                                 \
        m->trap = kind;                                                           \
        GO_TO(trap);                                                              \
      }                                                                           \
    }                                                                             \
    pc += kWords<Opcode::name>;                                                   \
    if constexpr ((bytecode::info(Opcode::name).flags & bytecode::kSlow) != 0) {  \
      WORKED();                                                                   \
    } else {                                                                      \
      NEXT();                                                                     \
    }                                                                             \
  }
#define OBJECT_STEP(name)                                                         \
  STEP(name) {                                                                    \
    const TrapKind kind = run_object_paced<Opcode::name>(pc, WINDOW(), *m, fuel); \
    if constexpr (may_release<Opcode::name>()) FORGET();                          \
    if (kind != TrapKind::kNone) [[unlikely]] {                                   \
      m->trap = kind;                                                             \
      GO_TO(trap);                                                                \
    }                                                                             \
    pc += kWords<Opcode::name>;                                                   \
    if constexpr ((bytecode::info(Opcode::name).flags & bytecode::kGrows) != 0) { \
      WORKED();                                                                   \
    } else {                                                                      \
      NEXT();                                                                     \
    }                                                                             \
  }
// Two ways out, each with its own indirect jump: merged into one by a conditional move, the next instruction's address
// would wait for the compare (1.4 ns against 0.9 measured).
#define BRANCH_STEP(name)                                                                    \
  STEP(name) {                                                                               \
    if (__builtin_expect_with_probability(run_branch<Opcode::name>(pc, WINDOW()), 1, 0.5)) { \
      TAKE(branch_offset<Opcode::name>(pc));                                                 \
      JUMPED();                                                                              \
    }                                                                                        \
    pc += kWords<Opcode::name>;                                                              \
    NEXT();                                                                                  \
  }

#if BATON_TAIL_CALLS

namespace {

struct StepTable;
#define STEP_PARAMETERS                                                                                    \
  [[maybe_unused]] const uint64_t *pc, [[maybe_unused]] Value *v, [[maybe_unused]] Object **r, Machine *m, \
      [[maybe_unused]] ModuleState *state, [[maybe_unused]] Frame *frame, [[maybe_unused]] uint64_t fuel,  \
      [[maybe_unused]] const StepTable *steps, [[maybe_unused]] const uint64_t *hot_pc, [[maybe_unused]] LastSums sums
#define STEP_ARGUMENTS pc, v, r, m, state, frame, fuel, steps, hot_pc, sums
#define STEP(name) [[clang::preserve_none, gnu::noinline]] void step_##name(STEP_PARAMETERS)
#define NEXT() [[clang::musttail]] return steps->at[static_cast<uint16_t>(*pc)](STEP_ARGUMENTS)
#define PLAIN_STEPS() (&kSteps)
#define NEXT_PLAIN() [[clang::musttail]] return kSteps.at[static_cast<uint16_t>(*pc)](STEP_ARGUMENTS)
#define GO_TO(name) [[clang::musttail]] return step_##name(STEP_ARGUMENTS)
#define EXIT(how)                 \
  do {                            \
    SAVE();                       \
    m->outcome = RunOutcome::how; \
    return;                       \
  } while (false)

using Step = void (*)(STEP_PARAMETERS) [[clang::preserve_none]];
struct StepTable {
  Step at[kOpcodeLimit];
};
extern const StepTable kSteps;

// Bodies that others go to come first; the order is no other.
STEP(trap);
STEP(interrupt);
STEP(enter_bytecode_import);
STEP(lend_counted);
STEP(lend_to_bytecode);
STEP(borrowing_stopped);
STEP(pending);
STEP(release_and_return);
#ifdef __OPTIMIZE_SIZE__
STEP(jumped);
STEP(worked);
#endif

#include "vm/ops/control.inc"
#define OP(code, name, ...)
#define PURE(code, name, ...) PURE_STEP(name)
#define OBJECT(code, name, ...) OBJECT_STEP(name)
#define BRANCH(code, name, ...) BRANCH_STEP(name)
#define CONTROL(code, name, ...)
#include "bytecode/isa.inc"

constexpr StepTable make_step_table() {
  StepTable table{};
  table.at[0] = step_halt;
#define OP(code, name, ...) table.at[code] = step_##name;
#include "bytecode/isa.inc"
  return table;
}
constexpr StepTable kSteps = make_step_table();

// Filled when first asked for: 4 KB that the binary doesn't hold.
const StepTable& instrumented_steps() {
  static StepTable table;
  static const bool filled = [] {
    for (Step& step : table.at) step = step_instrumented;
    return true;
  }();
  static_cast<void>(filled);
  return table;
}

}  // namespace

RunOutcome run(Machine& machine) {
  const StepTable* steps = machine.instrumented() ? &instrumented_steps() : &kSteps;
  steps->at[static_cast<uint16_t>(*machine.pc)](machine.pc, machine.window_values, machine.window_refs, &machine,
                                                machine.state, machine.frame, machine.fuel_quantum, steps, nullptr,
                                                LastSums());
  return machine.outcome;
}

#else  // computed goto

#define STEP(name) step_##name:
#define NEXT() goto* steps[static_cast<uint16_t>(*pc)]
#define PLAIN_STEPS() (tables.steps)
#define NEXT_PLAIN() goto* tables.steps[static_cast<uint16_t>(*pc)]
#define GO_TO(name) goto step_##name
#define EXIT(how)           \
  do {                      \
    SAVE();                 \
    return RunOutcome::how; \
  } while (false)

#pragma GCC diagnostic ignored "-Wpedantic"  // labels as values

namespace {

// By opcode, the address of each step's label. Labels are known only inside run(), which fills it on its first call.
struct LabelTables {
  const void* steps[kOpcodeLimit];
  const void* instrumented[kOpcodeLimit];
};

}  // namespace

RunOutcome run(Machine& machine) {
  static const LabelTables tables =
      [](const void* const* labels) {
        LabelTables made{};
        size_t next = 0;
        const void* const instrumented_label = labels[next++];
        for (const void*& label : made.instrumented) label = instrumented_label;
        made.steps[0] = labels[next++];
#define OP(code, name, ...) made.steps[code] = labels[next++];
#include "bytecode/isa.inc"
        return made;
      }(std::initializer_list<const void*>{
          &&step_instrumented,
          &&step_halt,
#define OP(code, name, ...) &&step_##name,
#include "bytecode/isa.inc"
      }
            .begin());

  Machine* const m = &machine;
  const uint64_t* pc = m->pc;
  Value* v = m->window_values;
  Object** r = m->window_refs;
  Frame* frame = m->frame;
  ModuleState* state = m->state;
  uint64_t fuel = m->fuel_quantum;
  const uint64_t* hot_pc = nullptr;
  LastSums sums;
  const void* const* const steps = m->instrumented() ? tables.instrumented : tables.steps;
  NEXT();

#include "vm/ops/control.inc"
#define OP(code, name, ...)
#define PURE(code, name, ...) PURE_STEP(name)
#define OBJECT(code, name, ...) OBJECT_STEP(name)
#define BRANCH(code, name, ...) BRANCH_STEP(name)
#define CONTROL(code, name, ...)
#include "bytecode/isa.inc"
}

#endif

}  // namespace baton::vm
