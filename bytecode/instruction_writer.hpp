// Emits the code of one function and patches its labels. Used by the assembler and by the compiler.
//
// Operands are given in table order as 64-bit numbers (register numbers, immediates' bits, label ids, list elements
// last); the row says where each goes, so code that emits instructions does not know the encoding. Labels are numbers
// from new_label(); a label may be used before it is placed. A fused branch whose target is too far for its 16 bits
// becomes three instructions: the branch over a `br` that skips, and a `br` to the target.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "bytecode/instruction_info.hpp"

namespace baton::bytecode {

using LabelId = uint32_t;

class InstructionWriter {
 public:
  LabelId new_label();
  void place(LabelId label);  // Here: before the next instruction.

  // `operands`: one number for each operand of the row but kCount and the list; `list`: its elements (label ids,
  // counts).
  void emit(Opcode opcode, std::span<const uint64_t> operands, std::span<const uint64_t> list = {});
  void emit(Opcode opcode, std::initializer_list<uint64_t> operands) {
    emit(opcode, std::span<const uint64_t>(operands.begin(), operands.size()));
  }

  // Instructions emitted so far; a position in finished code is given by `Code::starts[that number]`.
  uint32_t instruction_count() const { return static_cast<uint32_t>(instructions_.size()); }

  struct Code {
    std::vector<uint64_t> words;
    std::vector<uint32_t> starts;  // word of each emitted instruction, and the end
  };
  // Lays the code out. Fails when a used label was never placed, or when the code is too large for 32-bit labels.
  Result<Code> finish() const;

 private:
  struct Instruction {
    Opcode opcode;
    uint32_t operands_begin;  // into numbers_
    uint32_t list_begin;
    uint32_t list_size;
  };

  // The steps of finish(), in order.
  Status check() const;
  std::vector<uint64_t> lay_out(const std::vector<bool>& far) const;
  bool mark_far(const std::vector<uint64_t>& starts, std::vector<bool>& far) const;
  void encode(size_t index, bool far, const std::vector<uint32_t>& starts, uint64_t* words) const;

  std::vector<Instruction> instructions_;
  std::vector<uint64_t> numbers_;
  std::vector<uint32_t> labels_;  // instruction number, or kUnplaced
  static constexpr uint32_t kUnplaced = 0xffffffffu;
};

}  // namespace baton::bytecode
