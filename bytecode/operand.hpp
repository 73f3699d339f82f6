// The words that isa.inc is written in: operand kinds, and where each operand stands in an instruction.
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
  kDef,        // u16: value register, written
  kUse,        // u16: value register, read
  kUpdate,     // u16: value register, read and written
  kDefRef,     // u16: reference register, written
  kUseRef,     // u16: reference register, read
  kTakeRef,    // u16: reference register, read and left null
  kImm16,      // s16: small signed constant
  kImmI32,     // 32 bits: integer constant
  kImmF32,     // 32 bits: float constant
  kImmI64,     // 64 bits: integer constant
  kImmF64,     // 64 bits: float constant
  kNearLabel,  // s16: word offset from this instruction's first word to the target's
  kLabel,      // s32: the same
  kCallee,     // u16: function of this module; followed by kValueBase, kRefBase, or a tail call
  kImport,     // u16: import of this module
  kValueBase,  // u16: caller's value register that is the callee's register 0
  kRefBase,    // u16: the same for references
  kGlobal,     // 32 bits: global that holds a value
  kGlobalRef,  // 32 bits: global that holds a reference
  kRodata,     // 32 bits: rodata segment
  kType,       // 32 bits: reference type of this module, by its index in the type table
  kCode,       // u16: status code of a failure
  kCount,      // u16: number of elements in the list that ends the instruction
  kLabels,     // list of s32 label offsets, two a word
  kSegments,   // list of u16 element counts, four a word: one for each variadic segment of the import
  kLent,       // the same, followed by the u16 reference registers that the call lends, or kNoRegister for null
};

// Stands for null where a reference is lent: no frame has so many registers.
inline constexpr uint16_t kNoRegister = 0xffff;

struct Operand {
  OperandKind kind;
  SlotType slot = SlotType::kAny;  // for kDef, kUse, kUpdate

  constexpr bool operator==(const Operand&) const = default;
};

// Where an operand stands: in half-words from the start of the instruction.
constexpr size_t operand_halves(OperandKind kind) {
  switch (kind) {
    case OperandKind::kImmI32:
    case OperandKind::kImmF32:
    case OperandKind::kLabel:
    case OperandKind::kGlobal:
    case OperandKind::kGlobalRef:
    case OperandKind::kRodata:
    case OperandKind::kType: return 2;
    case OperandKind::kImmI64:
    case OperandKind::kImmF64: return 4;
    case OperandKind::kLabels:
    case OperandKind::kSegments:
    case OperandKind::kLent: return 0;  // Begins on the next word; its length is the kCount before it.
    default: return 1;
  }
}

constexpr bool is_list(OperandKind kind) {
  return kind == OperandKind::kLabels || kind == OperandKind::kSegments || kind == OperandKind::kLent;
}
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

namespace operands {

inline constexpr SlotType i32 = SlotType::kI32;
inline constexpr SlotType i64 = SlotType::kI64;
inline constexpr SlotType f32 = SlotType::kF32;
inline constexpr SlotType f64 = SlotType::kF64;
inline constexpr SlotType any = SlotType::kAny;

constexpr Operand Def(SlotType slot) { return {OperandKind::kDef, slot}; }
constexpr Operand Use(SlotType slot) { return {OperandKind::kUse, slot}; }
constexpr Operand Update(SlotType slot) { return {OperandKind::kUpdate, slot}; }
constexpr Operand DefRef() { return {OperandKind::kDefRef}; }
constexpr Operand UseRef() { return {OperandKind::kUseRef}; }
constexpr Operand TakeRef() { return {OperandKind::kTakeRef}; }
constexpr Operand Imm16() { return {OperandKind::kImm16}; }
constexpr Operand ImmI32() { return {OperandKind::kImmI32}; }
constexpr Operand ImmF32() { return {OperandKind::kImmF32}; }
constexpr Operand ImmI64() { return {OperandKind::kImmI64}; }
constexpr Operand ImmF64() { return {OperandKind::kImmF64}; }
constexpr Operand NearLabel() { return {OperandKind::kNearLabel}; }
constexpr Operand Label() { return {OperandKind::kLabel}; }
constexpr Operand Callee() { return {OperandKind::kCallee}; }
constexpr Operand Import() { return {OperandKind::kImport}; }
constexpr Operand ValueBase() { return {OperandKind::kValueBase}; }
constexpr Operand RefBase() { return {OperandKind::kRefBase}; }
constexpr Operand Global() { return {OperandKind::kGlobal}; }
constexpr Operand GlobalRef() { return {OperandKind::kGlobalRef}; }
constexpr Operand Rodata() { return {OperandKind::kRodata}; }
constexpr Operand Type() { return {OperandKind::kType}; }
constexpr Operand Code() { return {OperandKind::kCode}; }
constexpr Operand Count() { return {OperandKind::kCount}; }
constexpr Operand Labels() { return {OperandKind::kLabels}; }
constexpr Operand Segments() { return {OperandKind::kSegments}; }
constexpr Operand Lent() { return {OperandKind::kLent}; }

}  // namespace operands
}  // namespace baton::bytecode
