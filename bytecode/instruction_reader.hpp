// Reads operands of verified instructions, unchecked: each name says who proved that it may. The interpreter's only
// decoder, and the disassembler's.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "bytecode/instruction_info.hpp"

namespace baton::bytecode {

// The opcode of the instruction at pc. Verified: a row of isa.inc has it (verify_code.cpp).
inline Opcode read_opcode(const uint64_t* pc) { return static_cast<Opcode>(static_cast<uint16_t>(*pc)); }

// A 16-bit operand by its half-word position (OperandList::halves), by a load of its own.
template <size_t kHalf>
inline uint16_t load_u16(const uint64_t* pc) {
  uint16_t half;
  std::memcpy(&half, reinterpret_cast<const char*>(pc) + sizeof half * kHalf, sizeof half);
  return half;
}
// The same by one 64-bit load for all of a word and a shift: four 16-bit loads measured slower (1.19 ns against 0.90 an
// instruction). Half 2 would take three instructions, and has a load of its own (a blob's sum: 2.36 → 2.32 ns an element on Intel).
template <size_t kHalf>
inline uint16_t read_u16(const uint64_t* pc) {
#ifdef __OPTIMIZE_SIZE__
  constexpr bool kLoads = true;
#else
  constexpr bool kLoads = kHalf % 4 == 2;
#endif
  return kLoads ? load_u16<kHalf>(pc) : static_cast<uint16_t>(pc[kHalf / 4] >> (16 * (kHalf % 4)));
}
template <size_t kHalf>
inline uint32_t read_u32(const uint64_t* pc) {
  static_assert(kHalf % 2 == 0);
  return static_cast<uint32_t>(pc[kHalf / 4] >> (16 * (kHalf % 4)));
}
template <size_t kHalf>
inline uint64_t read_u64(const uint64_t* pc) {
  static_assert(kHalf % 4 == 0);
  return pc[kHalf / 4];
}

// The same with positions known at run time, for tools and the verifier.
inline uint64_t read_operand(const uint64_t* pc, OperandKind kind, size_t half) {
  const uint64_t bits = pc[half / 4] >> (16 * (half % 4));
  switch (operand_halves(kind)) {
    case 4: return bits;
    case 2: return static_cast<uint32_t>(bits);
    default: return static_cast<uint16_t>(bits);
  }
}

// Element `index` of the list that begins at word `words` of the instruction.
inline int32_t read_label(const uint64_t* list, size_t index) {
  return static_cast<int32_t>(static_cast<uint32_t>(list[index / 2] >> (32 * (index % 2))));
}
inline uint16_t read_element(const uint64_t* list, size_t index) {
  return static_cast<uint16_t>(list[index / 4] >> (16 * (index % 4)));
}

constexpr size_t list_words(OperandKind kind, size_t count) {
  return kind == OperandKind::kLabels ? (count + 1) / 2 : (count + 3) / 4;
}

// Length in words, with the list if there is one. `pc` may be unverified only if row.words of it are readable.
inline size_t instruction_words(const uint64_t* pc, const InstructionInfo& row) {
  size_t words = row.operands().words;
  const size_t count = row.operands().count;
  if (count == 0 || !is_list(row.operands().operands[count - 1].kind)) return words;
  const size_t elements = read_operand(pc, OperandKind::kCount, row.operands().halves[count - 2]);
  return words + list_words(row.operands().operands[count - 1].kind, elements);
}

}  // namespace baton::bytecode
