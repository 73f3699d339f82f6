// info(opcode): the row of isa.inc as constexpr data, but for the texts that only people read (isa_text.cpp).
// Everything that treats instructions alike is a loop over this.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "bytecode/opcode.hpp"
#include "bytecode/operand.hpp"

namespace baton::bytecode {

enum class Family : uint8_t { kPure, kObject, kBranch, kControl };

enum InstructionFlags : uint8_t {
  kNone = 0,
  kEnds = 1,    // Control never reaches the next instruction.
  kTraps = 2,   // May trap.
  kCalls = 4,   // Transfers to another function.
  kSlow = 8,    // Takes as long as dozens of additions: spends fuel (vm/pace.hpp).
  kGrows = 16,  // The same, and more with the size of an operand.
};

// Six bytes: the table of them is the largest piece of data in the smallest binary. What is long is elsewhere, once,
// and found by number, since a pointer would also cost a relocation a row.
struct InstructionInfo {
  uint16_t mnemonic_begin = 0;  // in detail::kMnemonics
  uint8_t mnemonic_size = 0;
  uint8_t operands_index = 0;  // in detail::kOperandLists
  uint8_t flags = kNone;
  Family family : 4 = Family::kPure;
  bool exists : 1 = false;  // Whether an instruction has this code.

  std::string_view mnemonic() const;
  constexpr const OperandList& operands() const;
};

namespace detail {

void isa_code_is_zero_too_large_or_used_twice();  // Never defined: reaching it stops the consteval below.

struct InstructionTable {
  std::array<InstructionInfo, kOpcodeLimit> rows{};
  std::array<OperandList, 256> operand_lists{};
  size_t operand_lists_count = 0;
};

#define BATON_UNWRAP(...) __VA_ARGS__
consteval InstructionTable make_instruction_table() {
  using namespace operands;  // NOLINT: the words of isa.inc
  InstructionTable table;
  size_t mnemonics_size = 0;
  auto list_index = [&](const OperandList& list) {
    size_t index = 0;
    while (index < table.operand_lists_count && !(table.operand_lists[index] == list)) ++index;
    if (index == table.operand_lists_count) table.operand_lists[table.operand_lists_count++] = list;
    return static_cast<uint8_t>(index);
  };
  auto add = [&](size_t code, std::string_view mnemonic, const OperandList& list, Family family, int flags) {
    if (code == 0 || code >= kOpcodeLimit || table.rows[code].exists) isa_code_is_zero_too_large_or_used_twice();
    InstructionInfo& row = table.rows[code];
    row.mnemonic_begin = static_cast<uint16_t>(mnemonics_size);
    row.mnemonic_size = static_cast<uint8_t>(mnemonic.size());
    row.operands_index = list_index(list);
    row.flags = static_cast<uint8_t>(flags);
    row.family = family;
    row.exists = true;
    mnemonics_size += mnemonic.size();
  };
#define ROW(family_name, code, name, mnemonic, row_operands, row_flags, meaning) \
  add(code, mnemonic, operand_list(BATON_UNWRAP row_operands), Family::family_name, row_flags);
#define PURE(...) ROW(kPure, __VA_ARGS__)
#define OBJECT(...) ROW(kObject, __VA_ARGS__)
#define BRANCH(...) ROW(kBranch, __VA_ARGS__)
#define CONTROL(...) ROW(kControl, __VA_ARGS__)
#include "bytecode/isa.inc"
#undef ROW
  return table;
}
#undef BATON_UNWRAP

// The first elements of a table that was made larger than it turned out to be.
template <size_t kCount, typename T, size_t kSize>
consteval std::array<T, kCount> first_elements(const std::array<T, kSize>& all) {
  std::array<T, kCount> first{};
  for (size_t i = 0; i < kCount; ++i) first[i] = all[i];
  return first;
}

inline constexpr InstructionTable kMadeTable = make_instruction_table();  // Only read while compiling.
inline constexpr std::array<InstructionInfo, kOpcodeLimit> kInstructionTable = kMadeTable.rows;
inline constexpr auto kOperandLists = first_elements<kMadeTable.operand_lists_count>(kMadeTable.operand_lists);

extern const char kMnemonics[];  // All of them, one after the other; instruction_info.cpp

}  // namespace detail

constexpr const InstructionInfo& info(Opcode opcode) { return detail::kInstructionTable[static_cast<size_t>(opcode)]; }

// The row for a code read from a file, or null when no instruction has it.
constexpr const InstructionInfo* find_info(uint16_t code) {
  if (code >= kOpcodeLimit || !detail::kInstructionTable[code].exists) return nullptr;
  return &detail::kInstructionTable[code];
}

constexpr const OperandList& InstructionInfo::operands() const { return detail::kOperandLists[operands_index]; }

inline std::string_view InstructionInfo::mnemonic() const {
  return {detail::kMnemonics + mnemonic_begin, mnemonic_size};
}

std::optional<Opcode> opcode_from_mnemonic(std::string_view mnemonic);  // instruction_info.cpp

}  // namespace baton::bytecode
