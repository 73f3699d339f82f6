// Any text → assembler. Goal: it never crashes, and text that becomes a verified module comes back from the
// disassembler as text that becomes the same bytes.
#include <cstdio>
#include <cstdlib>

#include "bytecode/assembler.hpp"
#include "bytecode/disassembler.hpp"
#include "bytecode/module_bytes.hpp"
#include "bytecode/verifier.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton;            // NOLINT
  using namespace baton::bytecode;  // NOLINT
  const auto bytes = assemble({reinterpret_cast<const char*>(data), size});
  if (!bytes) return 0;
  const ModuleBytes copy = ModuleBytes::copy(*bytes);
  const auto view = verify(copy.bytes());
  if (!view) return 0;
  const std::string printed = disassemble(*view);
  const auto again = assemble(printed);
  if (again && *again == *bytes) return 0;
  std::fprintf(stderr, "does not round-trip: %s\n%s\n",
               again ? "other bytes" : std::string(again.error().message()).c_str(), printed.c_str());
  std::abort();
}
