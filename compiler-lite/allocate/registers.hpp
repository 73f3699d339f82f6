// Gives every virtual register a place in the frame, in one pass over lifetimes in order of their beginning.
//
// A call's window begins above everything that lives on after it, and the callee owns all registers from there on. So a
// value that lives across calls wants a low register, and an argument wants to be made where the window will begin: the
// latter is a hint, guessed when the argument is placed, and where the guess fails a move is written. Hints also join
// block parameters with what flows into them, and results with where the caller expects them.
#pragma once

#include "compiler-lite/allocate/liveness.hpp"

namespace baton::compiler_lite::allocate {

struct Assignment {
  std::vector<uint32_t> places;    // of each virtual register, in its bank
  uint32_t registers[2] = {0, 0};  // how many each bank needs, without scratch
  Liveness liveness;
};

// Also writes the bases of calls. Places are not limited to 16 bits; the writer refuses what has no encoding.
Assignment assign_registers(emit::Function& function);

}  // namespace baton::compiler_lite::allocate
