// The writer puts every operand of every row where the reader finds it, and reaches labels however far they are.
#include "bytecode/instruction_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bytecode/instruction_reader.hpp"

namespace baton::bytecode {
namespace {

constexpr uint64_t kMove = static_cast<uint64_t>(Opcode::move);

// A value that fills the operand's field without being the same for two of them.
uint64_t sample(OperandKind kind, size_t index) {
  const uint64_t pattern = 0xf0e1d2c3b4a59687ull + index * 0x0101010101010101ull;
  const size_t halves = operand_halves(kind);
  return halves == 4 ? pattern : pattern & ((uint64_t{1} << (16 * halves)) - 1);
}

TEST(InstructionWriter, EveryRowReadsBackAsItWasWritten) {
  for (uint16_t code = 0; code < kOpcodeLimit; ++code) {
    const InstructionInfo* row = find_info(code);
    if (!row) continue;
    InstructionWriter writer;
    const LabelId end = writer.new_label();
    std::vector<uint64_t> operands;
    std::vector<uint64_t> list;
    for (size_t i = 0; i < row->operands().count; ++i) {
      const OperandKind kind = row->operands().operands[i].kind;
      if (kind == OperandKind::kCount) continue;
      if (kind == OperandKind::kLabels)
        list = {end, end, end};
      else if (kind == OperandKind::kSegments || kind == OperandKind::kLent)
        list = {7, 8, 9};
      else
        operands.push_back(kind == OperandKind::kLabel || kind == OperandKind::kNearLabel ? end : sample(kind, i));
    }
    writer.emit(static_cast<Opcode>(code), operands, list);
    writer.place(end);
    const auto made = writer.finish();
    ASSERT_TRUE(made) << made.error().message();
    const uint64_t* pc = made->words.data();
    EXPECT_EQ(read_opcode(pc), static_cast<Opcode>(code));
    ASSERT_EQ(instruction_words(pc, *row), made->words.size()) << row->mnemonic();
    for (size_t i = 0; i < row->operands().count; ++i) {
      const OperandKind kind = row->operands().operands[i].kind;
      const size_t half = row->operands().halves[i];
      if (kind == OperandKind::kCount) {
        EXPECT_EQ(read_operand(pc, kind, half), 3u) << row->mnemonic();
      } else if (kind == OperandKind::kLabels) {
        EXPECT_EQ(read_label(pc + half / 4, 2), static_cast<int32_t>(made->words.size())) << row->mnemonic();
      } else if (kind == OperandKind::kSegments || kind == OperandKind::kLent) {
        EXPECT_EQ(read_element(pc + half / 4, 2), 9) << row->mnemonic();
      } else if (kind == OperandKind::kLabel || kind == OperandKind::kNearLabel) {
        EXPECT_EQ(read_operand(pc, kind, half), made->words.size()) << row->mnemonic();
      } else {
        EXPECT_EQ(read_operand(pc, kind, half), sample(kind, i)) << row->mnemonic();
      }
    }
  }
}

TEST(InstructionWriter, NegativeNumbersFillTheirFieldOnly) {
  InstructionWriter writer;
  writer.emit(Opcode::add_imm_i32, {1, 2, static_cast<uint64_t>(-3)});
  const auto made = writer.finish();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->words[0] >> 48, 0xfffdu);
  EXPECT_EQ(static_cast<uint16_t>(made->words[0] >> 32), 2u);
}

// Emits a fused branch over (or back over) `distance` one-word instructions.
InstructionWriter::Code branch_across(size_t distance, bool forward) {
  InstructionWriter writer;
  const LabelId target = writer.new_label();
  if (!forward) writer.place(target);
  if (forward) writer.emit(Opcode::br_eq_i32, {1, 2, target});
  for (size_t i = 0; i < distance; ++i) writer.emit(Opcode::move, {0, 0});
  if (!forward) writer.emit(Opcode::br_eq_i32, {1, 2, target});
  if (forward) writer.place(target);
  writer.emit(Opcode::ret, {});
  auto made = writer.finish();
  EXPECT_TRUE(made);
  return *std::move(made);
}

// Where control goes from the branch at `word` when its condition holds and when not, following `br`.
std::pair<int64_t, int64_t> successors(const InstructionWriter::Code& code, int64_t word) {
  auto follow = [&](int64_t at) {
    const auto index = static_cast<size_t>(at);
    if (read_opcode(&code.words[index]) != Opcode::br) return at;
    return at + static_cast<int32_t>(read_u32<2>(&code.words[index]));
  };
  const auto offset = static_cast<int16_t>(read_u16<3>(&code.words[static_cast<size_t>(word)]));
  return {follow(word + offset), follow(word + 1)};
}

TEST(InstructionWriter, NearTargetsStayOneWord) {
  EXPECT_EQ(branch_across(32766, true).words.size(), 32766u + 2);   // offset 32767
  EXPECT_EQ(branch_across(32768, false).words.size(), 32768u + 2);  // offset -32768
}

TEST(InstructionWriter, FarTargetsGetADetour) {
  for (size_t distance : {size_t{32769}, size_t{40000}, size_t{100000}}) {
    const InstructionWriter::Code forward = branch_across(distance, true);
    ASSERT_EQ(forward.words.size(), distance + 4);
    EXPECT_EQ(successors(forward, 0), std::pair(int64_t(distance) + 3, int64_t{3}));
    EXPECT_EQ(forward.starts[1], 3u);
    const InstructionWriter::Code backward = branch_across(distance, false);
    ASSERT_EQ(backward.words.size(), distance + 4);
    EXPECT_EQ(successors(backward, int64_t(distance)), std::pair(int64_t{0}, int64_t(distance) + 3));
    EXPECT_EQ(backward.words[distance + 3], static_cast<uint64_t>(Opcode::ret));
  }
}

// A detour inside the span of another branch pushes that one's target out of reach too.
TEST(InstructionWriter, DetoursPushOtherTargetsOutOfReach) {
  InstructionWriter writer;
  const LabelId near = writer.new_label();
  const LabelId far = writer.new_label();
  writer.emit(Opcode::br_eq_i32, {1, 2, near});  // offset 32767 unless something grows
  writer.emit(Opcode::br_eq_i32, {1, 2, far});
  for (size_t i = 0; i < 32765; ++i) writer.emit(Opcode::move, {0, 0});
  writer.place(near);
  for (size_t i = 0; i < 100; ++i) writer.emit(Opcode::move, {0, 0});
  writer.place(far);
  writer.emit(Opcode::ret, {});
  const auto made = writer.finish();
  ASSERT_TRUE(made);
  EXPECT_EQ(successors(*made, 0), std::pair(int64_t{6 + 32765}, int64_t{3}));
  EXPECT_EQ(successors(*made, 3), std::pair(int64_t{6 + 32765 + 100}, int64_t{6}));
  EXPECT_EQ(static_cast<uint16_t>(made->words[6]), kMove);
}

TEST(InstructionWriter, RefusesLabelsThatAreNeverPlaced) {
  InstructionWriter writer;
  writer.emit(Opcode::br, {writer.new_label()});
  const auto made = writer.finish();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message(), "A label of a 'br' is never placed.");
}

TEST(InstructionWriter, RefusesListsThatACountCannotSay) {
  InstructionWriter writer;
  const LabelId here = writer.new_label();
  writer.place(here);
  const uint64_t operands[] = {0};
  writer.emit(Opcode::br_table, operands, std::vector<uint64_t>(65536, here));
  const auto made = writer.finish();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message(), "The list of a 'br.table' has 65536 elements (at most 65535).");
}

}  // namespace
}  // namespace baton::bytecode
