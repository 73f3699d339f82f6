// The words that isa.inc is written in (operand_kinds.inc), and where each operand stands in an instruction.
//
// An instruction is one or more 8-byte words. The first half-word (16 bits) is the opcode; operands follow in table
// order: 16-bit operands take the next half, 32-bit ones the next even half, 64-bit ones the next word. A list, always
// last, begins on a word of its own. So (Def, Use, Use) is one word, (Def, Imm32) is one word, (Def, Use, Use, Use) is
// two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bytecode/value_type.hpp"

namespace baton::bytecode {

// What a value operand is read or written as. kAny: the slot as it is, whatever it holds.
enum class SlotType : uint8_t { kI32, kI64, kF32, kF64, kAny };

enum class OperandKind : uint8_t {
#define VALUE(Kind, meaning) k##Kind,
#define REF VALUE
#define WORD16(Kind, name, meaning) k##Kind,
#define WORD32 WORD16
#define WORD64 WORD16
#define LIST WORD16
#include "bytecode/operand_kinds.inc"
};

// Stands for null where a reference is lent: no frame has so many registers.
inline constexpr uint16_t kNoRegister = 0xffff;

struct Operand {
  OperandKind kind;
  SlotType slot = SlotType::kAny;  // of a value register

  constexpr bool operator==(const Operand&) const = default;
};

// How many half-words an operand takes; 0 for a list, which begins on the next word and is as long as the kCount before
// it says.
constexpr size_t operand_halves(OperandKind kind) {
  switch (kind) {
#define HALVES(Kind, halves) \
  case OperandKind::k##Kind: \
    return halves;
#define VALUE(Kind, meaning) HALVES(Kind, 1)
#define REF VALUE
#define WORD16(Kind, name, meaning) HALVES(Kind, 1)
#define WORD32(Kind, name, meaning) HALVES(Kind, 2)
#define WORD64(Kind, name, meaning) HALVES(Kind, 4)
#define LIST(Kind, name, meaning) HALVES(Kind, 0)
#include "bytecode/operand_kinds.inc"
#undef HALVES
  }
  return 0;
}

constexpr bool is_list(OperandKind kind) { return operand_halves(kind) == 0; }
constexpr bool is_value_register(OperandKind kind) {
  return kind == OperandKind::kDef || kind == OperandKind::kUse || kind == OperandKind::kUpdate;
}
constexpr bool is_ref_register(OperandKind kind) {
  return kind == OperandKind::kDefRef || kind == OperandKind::kUseRef || kind == OperandKind::kTakeRef;
}

// A row's operands. Built by the constexpr functions below, joined by OPERANDS(...) in instruction_info.hpp.
inline constexpr size_t kOperandsMax = 6;
struct OperandList {
  std::array<Operand, kOperandsMax> operands{};
  std::array<uint8_t, kOperandsMax> halves{};  // position of each
  uint8_t count = 0;
  uint8_t words = 1;  // without the list

  constexpr const Operand* begin() const { return operands.data(); }
  constexpr const Operand* end() const { return operands.data() + count; }

  // Halves and words follow from the operands.
  constexpr bool operator==(const OperandList& other) const {
    if (count != other.count) return false;
    for (size_t i = 0; i < count; ++i) {
      if (!(operands[i] == other.operands[i])) return false;
    }
    return true;
  }
};

template <typename... Operands>
constexpr OperandList operand_list(Operands... operands) {
  OperandList list;
  size_t half = 1;
  [[maybe_unused]] auto add = [&](Operand operand) {
    const size_t size = operand_halves(operand.kind);
    const size_t alignment = size == 0 ? 4 : size;
    half = (half + alignment - 1) / alignment * alignment;
    list.operands[list.count] = operand;
    list.halves[list.count] = static_cast<uint8_t>(half);
    ++list.count;
    half += size;
  };
  (add(operands), ...);
  list.words = static_cast<uint8_t>((half + 3) / 4);
  return list;
}

namespace slots {

inline constexpr SlotType i32 = SlotType::kI32;
inline constexpr SlotType i64 = SlotType::kI64;
inline constexpr SlotType f32 = SlotType::kF32;
inline constexpr SlotType f64 = SlotType::kF64;
inline constexpr SlotType any = SlotType::kAny;

}  // namespace slots

namespace operands {

using namespace slots;  // NOLINT: the words of isa.inc

// Names of registers are for people: operand_names.cpp.
#define VALUE(Kind, meaning) \
  constexpr Operand Kind(SlotType slot, const char*) { return {OperandKind::k##Kind, slot}; }
#define REF(Kind, meaning) \
  constexpr Operand Kind(const char*) { return {OperandKind::k##Kind}; }
#define WORD16(Kind, name, meaning) \
  constexpr Operand Kind() { return {OperandKind::k##Kind}; }
#define WORD32 WORD16
#define WORD64 WORD16
#define LIST WORD16
#include "bytecode/operand_kinds.inc"

}  // namespace operands
}  // namespace baton::bytecode
