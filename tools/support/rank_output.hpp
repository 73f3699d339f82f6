// What a tool does as one of several ranks (hal/ranks.hpp): names by rank, and output in the ranks' order.
#pragma once

#include <string>

#include "hal/ranks.hpp"

namespace baton::tools {

// "part{rank}.npy" → "part1.npy"; {ranks} is how many there are.
std::string with_rank(std::string text, const hal::Ranks& ranks);

// Standard output stays in this process, up to 16 MiB, until print_in_turn(). Before anything is printed.
void keep_output();

// Prints when the rank before has, and returns when all have. A rank that failed doesn't come: it says why and is gone,
// which the others hear here, or in the collective that they wait in.
Status print_in_turn(const hal::Ranks& ranks);

}  // namespace baton::tools
