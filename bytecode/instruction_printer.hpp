// InstructionPrinter: instructions as the assembler writes them, with the names that the module has for things.
// Private to this room.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "bytecode/instruction_reader.hpp"
#include "bytecode/module_view.hpp"

namespace baton::bytecode {

// A reference type; in quotes where the assembler would read another word.
std::string type_text(ValueType type, std::string_view ref_type);
// "@print", "@print#1" for the second of that name.
std::string symbol_text(std::string_view name, uint32_t occurrence);
// A value of `type`; it reads back to the same bits.
std::string number_text(ValueType type, uint64_t bits);

// How often each name came before in its table: @print, @print#1. Empty for one instruction of a trace, which may be
// ambiguous.
class Occurrences {
 public:
  template <typename Name>
  Occurrences(uint32_t count, Name name) {
    std::map<std::string_view, uint32_t> seen;
    for (uint32_t i = 0; i < count; ++i) numbers_.push_back(seen[name(i)]++);
  }
  Occurrences() = default;
  uint32_t operator[](uint32_t index) const { return index < numbers_.size() ? numbers_[index] : 0; }

 private:
  std::vector<uint32_t> numbers_;
};

class InstructionPrinter {
 public:
  explicit InstructionPrinter(const ModuleView& module) : module_(module), has_debug_(module.has_debug()) {}

  // Tells apart what has the same name. Without it an instruction may be ambiguous, as in a trace.
  void number_occurrences();

  std::string function(uint32_t index) const;
  std::string global(uint32_t index) const;
  std::string rodata(uint32_t index) const;
  std::string executable(uint32_t index) const;
  std::string import(uint32_t index) const;

  enum class Registers { kPlain, kNamed };  // %v0, or lhs=%v0 for people.
  // The instruction at `code[word]` of a function.
  std::string instruction(std::span<const uint64_t> code, uint32_t word, Registers registers = Registers::kPlain) const;

 private:
  std::string operand(const uint64_t* pc, OperandKind kind, size_t half, uint32_t word) const;
  std::string list(const uint64_t* pc, OperandKind kind, size_t half, size_t count_half, uint32_t word) const;

  const ModuleView& module_;
  bool has_debug_;
  Occurrences functions_;
  Occurrences globals_;
  Occurrences rodata_;
  Occurrences imports_;
};

}  // namespace baton::bytecode
