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
enum class Track : uint8_t { kValue, kRef, kNone };
inline constexpr size_t kTracks = 3;

struct InstructionShape {
  // Bits of each word before the list that belong to no operand. A file keeps them 0, so that text round-trips.
  std::array<uint64_t, 2> unused = {~uint64_t{0xffff}, ~uint64_t{0}};
  std::array<Track, 3> names = {Track::kNone, Track::kNone, Track::kNone};  // by half 1 to 3
  std::array<Track, 3> reads = {Track::kNone, Track::kNone, Track::kNone};
  Track writes = Track::kNone;  // half 1
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
    shape.names[half - 1] = track_of(kind);
    if (is_read(kind)) shape.reads[half - 1] = track_of(kind);
    if (is_written(kind)) shape.writes = track_of(kind);
    if (kind != OperandKind::kNearLabel && kind != OperandKind::kLabel) continue;
    shape.label_shift = static_cast<uint8_t>(16 * half) & 63;
    if (half + operand_halves(kind) != 4) isa_writes_or_jumps_where_the_verifier_does_not_expect_it();
  }
  return shape;
}

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

}  // namespace baton::bytecode
