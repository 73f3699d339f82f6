#include "bytecode/instruction_info.hpp"

#include <string>
#include <unordered_map>

namespace baton::bytecode {

const char detail::kMnemonics[] =
#define OP(code, name, mnemonic, ...) mnemonic
#include "bytecode/isa.inc"
    ;

std::optional<Opcode> opcode_from_mnemonic(std::string_view mnemonic) {
  static const auto* index = [] {
    auto* map = new std::unordered_map<std::string_view, Opcode>;
    for (size_t code = 0; code < kOpcodeLimit; ++code) {
      if (const InstructionInfo* row = find_info(static_cast<uint16_t>(code))) {
        map->emplace(row->mnemonic(), static_cast<Opcode>(code));
      }
    }
    return map;
  }();
  const auto found = index->find(mnemonic);
  if (found == index->end()) return std::nullopt;
  return found->second;
}

}  // namespace baton::bytecode
