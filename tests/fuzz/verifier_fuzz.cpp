// Any bytes into the gate: it answers, and what it lets through can be looked at everywhere.
#include <cstddef>
#include <cstdint>
#include <span>

#include "bytecode/disassembler.hpp"
#include "bytecode/module_bytes.hpp"
#include "bytecode/verifier.hpp"

using namespace baton::bytecode;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ModuleBytes bytes = ModuleBytes::copy(std::as_bytes(std::span(data, size)));
  const baton::Result<ModuleView> module = verify(bytes.bytes());
  if (!module) return 0;
  for (uint32_t pc = 0; pc < module->code().size(); ++pc) static_cast<void>(module->location(pc));
  for (uint32_t i = 0; i < module->export_count(); ++i) {
    if (module->find_export(module->export_at(i).name) != i) __builtin_trap();
  }
  size_t rodata_bytes = 0;
  for (uint32_t i = 0; i < module->rodata_count(); ++i) {
    for (const std::byte byte : module->rodata(i)) rodata_bytes += static_cast<size_t>(byte);
  }
  return disassemble(*module).size() + rodata_bytes == 0;  // The text is never empty: keeps both from being dropped.
}
