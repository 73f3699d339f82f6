// A program from a fuzzer's bytes that the verifier accepts: every byte chooses an instruction, a register, a label, so
// that mutations change what runs instead of breaking the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baton::fuzz {

struct GeneratedProgram {
  std::vector<std::byte> bytes;
  bool may_build_rings = false;  // it puts references into lists: they may come to hold each other, and then live on
};

// It imports some of the functions of module "native" that run_fuzz.cpp provides.
GeneratedProgram generate_program(std::span<const uint8_t> choices);

}  // namespace baton::fuzz
