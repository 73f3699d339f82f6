// One function between MLIR and bytes: blocks of instructions of isa.inc on virtual registers.
//
// select.cpp makes it, allocate/ gives every virtual register a place, write_function.cpp writes the words. Arguments
// of calls, branches and returns are sources, so that constants go straight to where they are wanted and need no
// register.
#pragma once

#include <cstdint>
#include <vector>

#include "bytecode/opcode.hpp"

namespace baton::compiler_lite::emit {

using Register = uint32_t;  // Virtual: an index into Function::banks.
enum class Bank : uint8_t { kValue = 0, kRef = 1 };

// What an argument is taken from.
struct Source {
  enum class Kind : uint8_t { kRegister, kI32, kI64, kF32, kF64, kRodata, kNull };
  Kind kind = Kind::kRegister;
  uint64_t value = 0;  // The register, the constant's bits, or the segment.

  bool is_register() const { return kind == Kind::kRegister; }
};

struct Operand {
  bool is_register = false;
  uint64_t value = 0;
};

struct Location {
  uint32_t file = 0;  // Index into Module's file names; 0: unknown.
  uint32_t line = 0;
  uint32_t column = 0;
};

// Where control goes, and what the parameters of that block become.
struct Edge {
  uint32_t block = 0;
  std::vector<Source> arguments;
};

struct Instruction {
  enum class Kind : uint8_t {
    kPlain,   // `opcode` on `operands`, in the order of its row
    kCall,    // `opcode` says which call; `callee`, `arguments`, `results`, `segments`
    kReturn,  // `arguments`
    kJump,    // edges[0]
    kBranch,  // `opcode` on `operands` (its label left out) to edges[0], else edges[1]
    kTable,   // operands[0] chooses among the edges; the last is the default
    kEnd,     // `opcode` on `operands`; control never goes on
  };
  Kind kind = Kind::kPlain;
  bytecode::Opcode opcode = bytecode::Opcode::nop;
  std::vector<Operand> operands = {};
  std::vector<Source> arguments = {};
  std::vector<Register> results = {};
  std::vector<uint64_t> segments = {};
  std::vector<Edge> edges = {};
  uint32_t callee = 0;
  Location location = {};
  // Written by the allocator: the caller's registers that are the callee's first, and whether references stay where
  // they are (call.lend), because some are wanted after the call and would have to be copied.
  uint16_t bases[2] = {0, 0};
  bool lends = false;
};

struct Block {
  std::vector<Register> parameters;
  std::vector<Instruction> instructions;  // The last one ends the block.
};

struct Function {
  std::vector<Bank> banks;    // Of each virtual register.
  std::vector<Block> blocks;  // The first is where control enters; its parameters are the arguments.

  Register make_register(Bank bank) {
    banks.push_back(bank);
    return static_cast<Register>(banks.size() - 1);
  }
};

}  // namespace baton::compiler_lite::emit
