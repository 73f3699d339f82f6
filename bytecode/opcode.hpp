// enum Opcode, from isa.inc. Enumerators are spelled like the functions in vm/ops that do the work: Opcode::add_i32.
#pragma once

#include <cstddef>
#include <cstdint>

namespace baton::bytecode {

enum class Opcode : uint16_t {
#define OP(code, name, ...) name = code,
#include "bytecode/isa.inc"
};

// Every code is below this; tables indexed by code have this many entries.
inline constexpr size_t kOpcodeLimit = 0x200;

// Incremented whenever isa.inc gains rows; a file says which version it needs.
inline constexpr uint32_t kIsaVersion = 3;

}  // namespace baton::bytecode
