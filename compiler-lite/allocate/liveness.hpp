// Where each virtual register is live, as ranges of positions: at most one begins in each block, and one that goes on in the
// next block is one range.
//
// Blocks lie one after the other; each has a slot for its parameters and one for each instruction. A slot reads at the
// even position 2 * slot and writes at the odd one after it, so a register that is read last where another is written
// may share its place. Between two ranges the register holds nothing: what goes around a loop and is replaced there
// leaves its place to what replaces it.
#pragma once

#include <vector>

#include "compiler-lite/emit/machine.hpp"

namespace baton::compiler_lite::allocate {

struct Range {
  uint32_t begin;
  uint32_t end;  // the last position
};

struct Lifetime {
  std::vector<Range> ranges;  // ascending

  bool empty() const { return ranges.empty(); }
  uint32_t begin() const { return ranges.front().begin; }
  bool overlaps(const Lifetime& other) const;
  // Whether the register holds its value before and after what happens at `position`.
  bool lives_across(uint32_t position) const;
};

struct Liveness {
  std::vector<Lifetime> lifetimes;         // of each register
  std::vector<uint32_t> block_slots;       // of each block's parameters; its instructions follow
  std::vector<std::vector<bool>> live_in;  // of each block, by register

  uint32_t slot(size_t block, size_t instruction) const {
    return block_slots[block] + 1 + static_cast<uint32_t>(instruction);
  }
};

Liveness find_liveness(const emit::Function& function);

// Calls `on_use(register)` and `on_def(register)` for what an instruction reads and writes, arguments of edges
// included.
template <typename OnUse, typename OnDef>
void for_each_register(const emit::Instruction& instruction, OnUse on_use, OnDef on_def);

}  // namespace baton::compiler_lite::allocate

#include "bytecode/instruction_info.hpp"

namespace baton::compiler_lite::allocate {

template <typename OnUse, typename OnDef>
void for_each_register(const emit::Instruction& instruction, OnUse on_use, OnDef on_def) {
  using bytecode::OperandKind;
  const auto use_sources = [&](const std::vector<emit::Source>& sources) {
    for (const emit::Source& source : sources) {
      if (source.is_register()) on_use(static_cast<emit::Register>(source.value));
    }
  };
  const bytecode::OperandList& row = bytecode::info(instruction.opcode).operands();
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (!instruction.operands[i].is_register) continue;
    const emit::Register reg = static_cast<emit::Register>(instruction.operands[i].value);
    const OperandKind kind = row.operands[i].kind;
    if (kind != OperandKind::kDef && kind != OperandKind::kDefRef) on_use(reg);
    if (kind == OperandKind::kDef || kind == OperandKind::kDefRef || kind == OperandKind::kUpdate) on_def(reg);
  }
  use_sources(instruction.arguments);
  for (const emit::Edge& edge : instruction.edges) use_sources(edge.arguments);
  for (const emit::Register result : instruction.results) on_def(result);
}

}  // namespace baton::compiler_lite::allocate
