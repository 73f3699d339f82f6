#include "bytecode/operand_names.hpp"

#include "bytecode/operand.hpp"

namespace baton::bytecode {
namespace {

using Names = std::array<std::string_view, kOperandsMax>;

// The words of isa.inc once more, where each is its name.
namespace names {

using namespace slots;  // NOLINT: the words of isa.inc

#define VALUE(Kind, meaning) \
  constexpr std::string_view Kind(SlotType, std::string_view name) { return name; }
#define REF(Kind, meaning) \
  constexpr std::string_view Kind(std::string_view name) { return name; }
#define WORD16(Kind, name, meaning) \
  constexpr std::string_view Kind() { return name; }
#define WORD32 WORD16
#define WORD64 WORD16
#define LIST WORD16
#include "bytecode/operand_kinds.inc"

template <typename... Words>
constexpr Names of(Words... words) {
  return {words...};
}

}  // namespace names

struct NameTable {
  std::array<uint8_t, kOpcodeLimit> index{};  // in lists
  std::array<Names, 256> lists{};
  size_t count = 0;
};

#define BATON_UNWRAP(...) __VA_ARGS__
consteval NameTable make_name_table() {
  using namespace names;  // NOLINT
  NameTable table;
  const auto add = [&](size_t code, const Names& list) {
    size_t index = 0;
    while (index < table.count && table.lists[index] != list) ++index;
    if (index == table.count) table.lists[table.count++] = list;
    table.index[code] = static_cast<uint8_t>(index);
  };
#define OP(code, name, mnemonic, operands, flags, meaning) add(code, of(BATON_UNWRAP operands));
#include "bytecode/isa.inc"
  return table;
}
#undef BATON_UNWRAP

constexpr NameTable kMade = make_name_table();  // Only read while compiling.
constexpr std::array<uint8_t, kOpcodeLimit> kIndex = kMade.index;
constexpr auto kLists = [] {
  std::array<Names, kMade.count> lists{};
  for (size_t i = 0; i < kMade.count; ++i) lists[i] = kMade.lists[i];
  return lists;
}();

}  // namespace

std::string_view operand_name(Opcode opcode, size_t index) {
  return kLists[kIndex[static_cast<size_t>(opcode)]][index];
}

}  // namespace baton::bytecode
