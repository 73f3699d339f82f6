// A row of isa.inc condensed for the verifier: most instructions are one word of registers, constants and at
// most one label, and are checked by looking each half up here instead of looping over operands (44 → 14 ns an
// instruction for both walks over random code). What doesn't fit is not simple and goes the long way, over the row.
// Private to this room.
#pragma once

#include <array>
#include <cstdint>

#include "bytecode/instruction_info.hpp"

namespace baton::bytecode {

// The register bank that a half-word names a register of. Also an index: kNone has an entry that always passes.
enum class Track : uint8_t { kNone, kValue, kRef };
inline constexpr size_t kTracks = 3;

struct InstructionShape {
  // Bits of each word before the list that belong to no operand. A file keeps them 0, so that text round-trips.
  std::array<uint64_t, 2> unused = {~uint64_t{0xffff}, ~uint64_t{0}};
  std::array<Track, 3> reads = {Track::kNone, Track::kNone, Track::kNone};  // by half 1 to 3
  Track writes = Track::kNone;                                              // half 1
  // Halves that name a register of the bank: bit 0 is half 1. Index of kHalves.
  uint8_t value_halves = 0;
  uint8_t ref_halves = 0;
  bool is_plain : 1 = false;    // Simple, names no reference, goes on with the next word.
  uint8_t label_shift : 6 = 0;  // The label is the word shifted right by this, with its sign; 0: no label.
  bool is_simple : 1 = false;
  bool ends : 1 = false;
  bool pays : 1 = false;  // Whichever way control goes, the interpreter spends fuel here.

  constexpr bool operator==(const InstructionShape&) const = default;
};

namespace detail {

constexpr bool is_read(OperandKind kind) {
  return kind == OperandKind::kUse || kind == OperandKind::kUpdate || kind == OperandKind::kUseRef ||
         kind == OperandKind::kTakeRef;
}

constexpr bool is_written(OperandKind kind) {
  return kind == OperandKind::kDef || kind == OperandKind::kUpdate || kind == OperandKind::kDefRef;
}

constexpr Track track_of(OperandKind kind) {
  return is_value_register(kind) ? Track::kValue : is_ref_register(kind) ? Track::kRef : Track::kNone;
}

// Operands that only the long way knows how to check.
constexpr bool is_simple(Opcode opcode, const InstructionInfo& row) {
  const bool returns = opcode == Opcode::ret || opcode == Opcode::ret_value;
  if (!row.exists || row.operands().words != 1 || row.flags & kCalls || returns) return false;
  for (const Operand& operand : row.operands()) {
    const bool simple = track_of(operand.kind) != Track::kNone || operand.kind == OperandKind::kNearLabel ||
                        operand.kind == OperandKind::kLabel || operand.kind == OperandKind::kImm16 ||
                        operand.kind == OperandKind::kImmI32 || operand.kind == OperandKind::kImmF32;
    if (!simple) return false;
  }
  return true;
}

void isa_writes_or_jumps_where_the_verifier_does_not_expect_it();  // Never defined: reaching it stops the consteval
                                                                   // below.

consteval InstructionShape shape_of(Opcode opcode, const InstructionInfo& row) {
  InstructionShape shape;
  shape.is_simple = is_simple(opcode, row);
  shape.ends = row.flags & kEnds;
  shape.pays = row.flags & (kEnds | kCalls);
  for (size_t i = 0; i < row.operands().count; ++i) {
    const OperandKind kind = row.operands().operands[i].kind;
    const size_t half = row.operands().halves[i];
    if (is_written(kind) && half != 1) isa_writes_or_jumps_where_the_verifier_does_not_expect_it();
    for (size_t at = half; at < half + operand_halves(kind); ++at) {
      shape.unused[at / 4] &= ~(uint64_t{0xffff} << (16 * (at % 4)));  // A row of three words would not compile.
    }
    if (half > 3) continue;
    if (is_value_register(kind)) shape.value_halves = static_cast<uint8_t>(shape.value_halves | 1 << (half - 1));
    if (is_ref_register(kind)) shape.ref_halves = static_cast<uint8_t>(shape.ref_halves | 1 << (half - 1));
    if (is_read(kind)) shape.reads[half - 1] = track_of(kind);
    if (is_written(kind)) shape.writes = track_of(kind);
    if (kind != OperandKind::kNearLabel && kind != OperandKind::kLabel) continue;
    shape.label_shift = static_cast<uint8_t>(16 * half) & 63;
    if (half + operand_halves(kind) != 4) isa_writes_or_jumps_where_the_verifier_does_not_expect_it();
  }
  shape.is_plain = shape.is_simple && shape.ref_halves == 0 && shape.label_shift == 0 && !shape.ends;
  return shape;
}

// The halves of a word that each set of InstructionShape's names.
consteval std::array<uint64_t, 8> make_halves() {
  std::array<uint64_t, 8> halves{};
  for (size_t set = 0; set < halves.size(); ++set) {
    for (size_t half = 1; half <= 3; ++half) {
      if (set >> (half - 1) & 1) halves[set] |= uint64_t{0xffff} << (16 * half);
    }
  }
  return halves;
}

inline constexpr std::array<uint64_t, 8> kHalves = make_halves();

// Different shapes are few: all of them together fit into the first-level cache beside the code that they describe.
struct ShapeTable {
  std::array<uint8_t, kOpcodeLimit> index_by_code{};
  std::array<InstructionShape, 256> shapes{};
  size_t count = 0;
};

consteval ShapeTable make_shape_table() {
  ShapeTable table;
  for (size_t code = 0; code < kOpcodeLimit; ++code) {
    const InstructionShape shape = shape_of(static_cast<Opcode>(code), kInstructionTable[code]);
    size_t index = 0;
    while (index < table.count && !(table.shapes[index] == shape)) ++index;
    if (index == table.count) table.shapes[table.count++] = shape;
    table.index_by_code[code] = static_cast<uint8_t>(index);
  }
  return table;
}

inline constexpr ShapeTable kMadeShapes = make_shape_table();  // Only read while compiling.
inline constexpr std::array<uint8_t, kOpcodeLimit> kShapeIndex = kMadeShapes.index_by_code;
inline constexpr auto kShapes = first_elements<kMadeShapes.count>(kMadeShapes.shapes);

}  // namespace detail

// For any code below kOpcodeLimit; not simple when no instruction has it.
inline const InstructionShape& instruction_shape(uint16_t code) { return detail::kShapes[detail::kShapeIndex[code]]; }

// Not 0 when one of `halves` (InstructionShape) of the word is `count` or more. A half and 2^16 - count, added in 32 bits, carry into bit 16
// then; the other halves count as 0, so it is also not 0 when `count` is.
inline uint64_t halves_beyond(uint64_t word, uint8_t halves, uint64_t count) {
  constexpr uint64_t kEven = 0x0000ffff0000ffff;
  constexpr uint64_t kCarries = 0x0001000000010000;
  const uint64_t named = word & detail::kHalves[halves];
  const uint64_t room = (0x10000 - count) * 0x0000000100000001;
  return (((named & kEven) + room) | ((named >> 16 & kEven) + room)) & kCarries;
}

}  // namespace baton::bytecode
