// Which words of an instruction are ids, for whoever gives a module's ids other numbers.
//
// Known are the instructions of functions, types and constants that compilers of shaders write for code without images;
// the rest is told by its number, and nothing is guessed.
#pragma once

#include <cstdint>
#include <vector>

#include "hal/spirv_words.hpp"

namespace baton::hal::drivers::vulkan {

struct SpirvOperands {
  uint32_t type = 0;           // The word that is the result's type; 0: there is none.
  uint32_t result = 0;         // The word that is the id which it makes; 0: it makes none.
  std::vector<uint32_t> used;  // The other words that are ids.
};

// `selector_words`: of the literals of a switch, 2 where what it looks at has 64 bits. INVALID_ARGUMENT for what lacks
// words, UNIMPLEMENTED for what is not known.
Result<SpirvOperands> operands_of(const SpirvInstruction& one, uint32_t selector_words = 1);

}  // namespace baton::hal::drivers::vulkan
