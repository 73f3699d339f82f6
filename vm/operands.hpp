// From a row of isa.inc to a call of its function in vm/ops: each operand is decoded as its kind says and passed as the
// C++ type that goes with it. So a step of the interpreter is not written by hand for any PURE, OBJECT or BRANCH row.
//
//   Use(i32) → int32_t          Imm16 → int16_t     UseRef → Object* (borrowed)   Global → Value&
//   Use(any) → uint64_t (bits)  ImmF64 → double     TakeRef → Object*& (slot)     Rodata → Blob*   ...
//
// Verified: every register is inside the frame and of the right bank, every index inside its table (verify_code.cpp).
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "bytecode/instruction_reader.hpp"
#include "vm/context.hpp"
#include "vm/ops/blob.hpp"
#include "vm/ops/compare.hpp"
#include "vm/ops/convert.hpp"
#include "vm/ops/float.hpp"
#include "vm/ops/integer.hpp"
#include "vm/ops/list.hpp"
#include "vm/ops/object.hpp"

namespace baton::vm {

using bytecode::Opcode;
using bytecode::OperandKind;
using bytecode::SlotType;

// The registers and tables that a running function sees.
struct Window {
  Value* values;
  Object** refs;
  ModuleState* state;

  template <typename T>
  T read(size_t index) const {
    return values[index].as<T>();
  }
};

// Keeps the compiler from choosing between a float and another by a conditional move, which waits for both.
template <typename T>
[[gnu::always_inline]] inline void hold_in_register([[maybe_unused]] T& value) {
  static_assert(std::is_floating_point_v<T>);
#if defined(__x86_64__)
  __asm__("" : "+x"(value));
#elif defined(__aarch64__)
  __asm__("" : "+w"(value));
#endif
}

// The same behind an instruction that wrote `value` to register `written`: who reads it does not wait for the store,
// which takes longer than most instructions (5 cycles on Intel, 7 on AMD).
struct WindowBehind : Window {
  size_t written;
  Value value;

  template <typename T>
  T read(size_t index) const {
    if (index != written) return Window::read<T>(index);
    T fresh = value.as<T>();
    hold_in_register(fresh);
    return fresh;
  }
};

// A window in which the first operand that is read is known to hold `value`.
template <typename T>
struct WindowGuessed : Window {
  T value;
};

template <Opcode kOpcode>
struct Body;  // run(...) forwards to the function of vm/ops
#define OP(code, name, ...)
#define PURE(code, name, ...)                                  \
  template <>                                                  \
  struct Body<Opcode::name> {                                  \
    template <typename... Arguments>                           \
    static auto run(Arguments&&... arguments) {                \
      return ops::name(std::forward<Arguments>(arguments)...); \
    }                                                          \
  };
#define OBJECT PURE
#define BRANCH PURE
#define CONTROL(...)
namespace ops {
inline int nop() { return 0; }
}  // namespace ops
#include "bytecode/isa.inc"

template <SlotType kSlot>
using SlotValue = std::conditional_t<
    kSlot == SlotType::kI32, int32_t,
    std::conditional_t<kSlot == SlotType::kI64, int64_t,
                       std::conditional_t<kSlot == SlotType::kF32, float,
                                          std::conditional_t<kSlot == SlotType::kF64, double, uint64_t>>>>;

template <typename T>
void write_slot(Value& slot, T value) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    slot.bits = value;
  } else {
    slot = Value::of(value);
  }
}

template <Opcode kOpcode, size_t kIndex>
struct OperandOf {
  static constexpr auto& kRow = bytecode::info(kOpcode).operands();
  static constexpr OperandKind kKind = kRow.operands[kIndex].kind;
  static constexpr SlotType kSlot = kRow.operands[kIndex].slot;
  static constexpr size_t kHalf = kRow.halves[kIndex];
};

template <Opcode kOpcode>
inline constexpr size_t kOperandCount = bytecode::info(kOpcode).operands().count;
template <Opcode kOpcode>
inline constexpr size_t kWords = bytecode::info(kOpcode).operands().words;

// Floats wait for adders and not for loads: there each operand has a load of its own.
template <Opcode kOpcode, size_t kHalf>
uint16_t read_index(const uint64_t* pc) {
  constexpr SlotType kSlot = OperandOf<kOpcode, 0>::kSlot;
  constexpr bool kIsFloat = kSlot == SlotType::kF32 || kSlot == SlotType::kF64;
  return kIsFloat ? bytecode::load_u16<kHalf>(pc) : bytecode::read_u16<kHalf>(pc);
}

template <Opcode kOpcode, size_t kIndex>
Value& value_slot(const uint64_t* pc, const Window& window) {
  return window.values[read_index<kOpcode, OperandOf<kOpcode, kIndex>::kHalf>(pc)];
}
template <Opcode kOpcode, size_t kIndex>
Object*& ref_slot(const uint64_t* pc, const Window& window) {
  return window.refs[bytecode::read_u16<OperandOf<kOpcode, kIndex>::kHalf>(pc)];
}

template <Opcode kOpcode, size_t kIndex, typename SomeWindow>
decltype(auto) read_argument(const uint64_t* pc, const SomeWindow& window) {
  using Operand = OperandOf<kOpcode, kIndex>;
  constexpr OperandKind kKind = Operand::kKind;
  constexpr size_t kHalf = Operand::kHalf;
  if constexpr (kIndex == 1 && std::is_same_v<SomeWindow, WindowGuessed<SlotValue<Operand::kSlot>>>) {
    return window.value;
  } else if constexpr (kKind == OperandKind::kUse) {
    return window.template read<SlotValue<Operand::kSlot>>(read_index<kOpcode, kHalf>(pc));
  } else if constexpr (kKind == OperandKind::kUseRef) {
    return static_cast<Object*>(ref_slot<kOpcode, kIndex>(pc, window));
  } else if constexpr (kKind == OperandKind::kTakeRef) {
    return (ref_slot<kOpcode, kIndex>(pc, window));
  } else if constexpr (kKind == OperandKind::kImm16) {
    return static_cast<int16_t>(bytecode::read_u16<kHalf>(pc));
  } else if constexpr (kKind == OperandKind::kImmI32) {
    return static_cast<int32_t>(bytecode::read_u32<kHalf>(pc));
  } else if constexpr (kKind == OperandKind::kImmF32) {
    return std::bit_cast<float>(bytecode::read_u32<kHalf>(pc));
  } else if constexpr (kKind == OperandKind::kImmI64) {
    return static_cast<int64_t>(bytecode::read_u64<kHalf>(pc));
  } else if constexpr (kKind == OperandKind::kImmF64) {
    return std::bit_cast<double>(bytecode::read_u64<kHalf>(pc));
  } else if constexpr (kKind == OperandKind::kGlobal) {
    return (window.state->globals[bytecode::read_u32<kHalf>(pc)]);
  } else if constexpr (kKind == OperandKind::kGlobalRef) {
    const uint32_t index = bytecode::read_u32<kHalf>(pc);
    return ops::GlobalReference{window.state->globals[index].ref, window.state->linked->global_types[index]};
  } else if constexpr (kKind == OperandKind::kRodata) {
    return window.state->linked->bytecode->rodata(bytecode::read_u32<kHalf>(pc));
  } else if constexpr (kKind == OperandKind::kExecutable) {
    return window.state->linked->bytecode->executable(bytecode::read_u32<kHalf>(pc));
  } else if constexpr (kKind == OperandKind::kType) {
    return window.state->types[bytecode::read_u32<kHalf>(pc)];
  } else {
    static_assert(kKind == OperandKind::kImport);
    return (window.state->imports[bytecode::read_u16<kHalf>(pc)]);
  }
}

// PURE: everything but the first operand goes in, the result goes to the first, and to `written`.
template <Opcode kOpcode, typename SomeWindow>
TrapKind run_pure(const uint64_t* pc, const SomeWindow& window, Value& written) {
  if constexpr (kOperandCount<kOpcode> == 0) {
    return TrapKind::kNone;
  } else {
    return [&]<size_t... kIndices>(std::index_sequence<kIndices...>) {
      Value& target = value_slot<kOpcode, 0>(pc, window);
      const auto result = Body<kOpcode>::run(read_argument<kOpcode, kIndices + 1>(pc, window)...);
      if constexpr ((bytecode::info(kOpcode).flags & bytecode::kTraps) != 0) {
        if (result.trap != TrapKind::kNone) [[unlikely]]
          return result.trap;
        write_slot(written, result.value);
      } else {
        write_slot(written, result);
      }
      target = written;
      return TrapKind::kNone;
    }
    (std::make_index_sequence<kOperandCount<kOpcode> - 1>());
  }
}

// OBJECT: a first operand that is defined is written after the function has succeeded; an old reference is released
// then. `extra` is what the function takes after its operands: a Pace, when its row says kGrows.
template <Opcode kOpcode, typename... Extra>
TrapKind run_object(const uint64_t* pc, const Window& window, Extra&... extra) {
  using First = OperandOf<kOpcode, 0>;
  if constexpr (First::kKind == OperandKind::kDef) {
    return [&]<size_t... kIndices>(std::index_sequence<kIndices...>) {
      SlotValue<First::kSlot> result{};
      const TrapKind trap = Body<kOpcode>::run(result, read_argument<kOpcode, kIndices + 1>(pc, window)..., extra...);
      if (trap == TrapKind::kNone) [[likely]]
        write_slot(value_slot<kOpcode, 0>(pc, window), result);
      return trap;
    }
    (std::make_index_sequence<kOperandCount<kOpcode> - 1>());
  } else if constexpr (First::kKind == OperandKind::kDefRef) {
    return [&]<size_t... kIndices>(std::index_sequence<kIndices...>) {
      Object* result = nullptr;
      const TrapKind trap = Body<kOpcode>::run(result, read_argument<kOpcode, kIndices + 1>(pc, window)..., extra...);
      if (trap == TrapKind::kNone) [[likely]]
        release_object(std::exchange(ref_slot<kOpcode, 0>(pc, window), result));
      return trap;
    }
    (std::make_index_sequence<kOperandCount<kOpcode> - 1>());
  } else {
    return [&]<size_t... kIndices>(std::index_sequence<kIndices...>) {
      return Body<kOpcode>::run(read_argument<kOpcode, kIndices>(pc, window)..., extra...);
    }
    (std::make_index_sequence<kOperandCount<kOpcode>>());
  }
}

// The same for a row of either kind, at the price of what it does.
template <Opcode kOpcode>
[[gnu::always_inline]] inline TrapKind run_object_paced(const uint64_t* pc, const Window& window, Machine& machine,
                                                        uint64_t& fuel) {
  if constexpr ((bytecode::info(kOpcode).flags & bytecode::kGrows) != 0) {
    Pace pace(machine, window.state->context->allocator(), fuel);
    const TrapKind trap = run_object<kOpcode>(pc, window, pace);
    fuel = pace.fuel();
    return trap;
  } else {
    return run_object<kOpcode>(pc, window);
  }
}

// BRANCH: whether to take the label, which is the last operand. A first operand that is updated is written back either
// way.
template <Opcode kOpcode>
bool run_branch(const uint64_t* pc, const Window& window) {
  using First = OperandOf<kOpcode, 0>;
  if constexpr (First::kKind == OperandKind::kUpdate) {
    Value& counter = value_slot<kOpcode, 0>(pc, window);
    auto value = counter.as<SlotValue<First::kSlot>>();
    const bool taken = Body<kOpcode>::run(value, read_argument<kOpcode, 1>(pc, window));
    write_slot(counter, value);
    return taken;
  } else {
    return [&]<size_t... kIndices>(std::index_sequence<kIndices...>) {
      return Body<kOpcode>::run(read_argument<kOpcode, kIndices>(pc, window)...);
    }
    (std::make_index_sequence<kOperandCount<kOpcode> - 1>());
  }
}

// Where the label of a BRANCH is, in words from its instruction.
template <Opcode kOpcode>
int32_t branch_offset(const uint64_t* pc) {
  using Label = OperandOf<kOpcode, kOperandCount<kOpcode> - 1>;
  if constexpr (Label::kKind == OperandKind::kNearLabel) {
    return static_cast<int16_t>(bytecode::read_u16<Label::kHalf>(pc));
  } else {
    static_assert(Label::kKind == OperandKind::kLabel);
    return static_cast<int32_t>(bytecode::read_u32<Label::kHalf>(pc));
  }
}

}  // namespace baton::vm
