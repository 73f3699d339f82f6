// Text → bytes → text, for tests of the assembler and the disassembler.
#pragma once

#include <string>
#include <vector>

#include "bytecode/assembler.hpp"
#include "bytecode/disassembler.hpp"
#include "bytecode/module_bytes.hpp"
#include "bytecode/verifier.hpp"

namespace baton::bytecode {

// The text of a module file, or the sentence that refuses it.
inline std::string text_of(std::span<const std::byte> bytes) {
  const ModuleBytes copy = ModuleBytes::copy(bytes);
  const Result<ModuleView> view = verify(copy.bytes());
  return view ? disassemble(*view) : text("refused: ", view.error().message());
}

// What the assembler says against the text; empty when it has nothing to say.
inline std::string errors_of(std::string_view source) {
  const Result<std::vector<std::byte>> bytes = assemble(source, {.file_name = "in"});
  return bytes ? std::string() : std::string(bytes.error().message());
}

// The text that a module's text becomes by way of bytes, or the first sentence that stops it.
inline std::string reprinted(std::string_view source, const AssemblerOptions& options = {}) {
  const Result<std::vector<std::byte>> bytes = assemble(source, options);
  return bytes ? text_of(*bytes) : std::string(bytes.error().message());
}

}  // namespace baton::bytecode
