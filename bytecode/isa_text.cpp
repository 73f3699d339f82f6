#include "bytecode/isa_text.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "bytecode/instruction_info.hpp"
#include "bytecode/operand_names.hpp"

namespace baton::bytecode {
namespace {

// The headings of isa.inc, each with the rows below it, in their order.
struct Section {
  std::string_view title;
  std::vector<uint16_t> codes = {};
};
std::vector<Section> make_sections() {
  std::vector<Section> sections;
  // clang-format off
#define SECTION(title) sections.push_back({title});
#define OP(code, name, ...) sections.back().codes.push_back(code);
#include "bytecode/isa.inc"
  // clang-format on
  for (Section& section : sections) std::sort(section.codes.begin(), section.codes.end());
  return sections;
}

std::string_view slot_name(SlotType slot) {
  constexpr std::string_view names[] = {"i32", "i64", "f32", "f64", "any"};
  return names[static_cast<size_t>(slot)];
}

// The word that isa.inc spells the operand with.
std::string_view kind_name(OperandKind kind) {
  switch (kind) {
#define VALUE(Kind, meaning) \
  case OperandKind::k##Kind: \
    return #Kind;
#define REF VALUE
#define WORD16(Kind, name, meaning) VALUE(Kind, meaning)
#define WORD32 WORD16
#define WORD64 WORD16
#define LIST WORD16
#include "bytecode/operand_kinds.inc"
  }
  return "";
}

std::string operand_text(const Operand& operand) {
  const bool has_slot = is_value_register(operand.kind);
  return has_slot ? text(kind_name(operand.kind), "(", slot_name(operand.slot), ")")
                  : std::string(kind_name(operand.kind));
}

// The text of an operand in a program; registers as baton-dump-module lists them.
std::string operand_example(const Operand& operand, std::string_view name) {
  if (is_value_register(operand.kind) || operand.kind == OperandKind::kValueBase) return text(name, "=%v");
  if (is_ref_register(operand.kind) || operand.kind == OperandKind::kRefBase) return text(name, "=%r");
  switch (operand.kind) {
    case OperandKind::kImm16:
    case OperandKind::kImmI32:
    case OperandKind::kImmI64: return "1";
    case OperandKind::kImmF32:
    case OperandKind::kImmF64: return "1.5";
    case OperandKind::kNearLabel:
    case OperandKind::kLabel: return "label";
    case OperandKind::kCallee: return "@function";
    case OperandKind::kImport: return "@module.function";
    case OperandKind::kGlobal:
    case OperandKind::kGlobalRef: return "@global";
    case OperandKind::kRodata: return "@rodata";
    case OperandKind::kExecutable: return "@executable";
    case OperandKind::kType: return "type";
    case OperandKind::kCode: return "internal";
    case OperandKind::kLabels: return "[label, ...]";
    case OperandKind::kSegments: return "[2, ...]";
    case OperandKind::kLent: return "[2, ..., %r, null, ...]";
    default: return {};
  }
}

std::string example(uint16_t code, const InstructionInfo& row) {
  std::string result(row.mnemonic());
  std::string_view joint = " ";
  for (size_t i = 0; i < row.operands().count; ++i) {
    const Operand& operand = row.operands().operands[i];
    if (operand.kind == OperandKind::kCount) continue;
    result += text(joint, operand_example(operand, operand_name(static_cast<Opcode>(code), i)));
    joint = ", ";
  }
  return result;
}

std::vector<std::string_view> flag_names(uint8_t flags) {
  std::vector<std::string_view> names;
  if ((flags & kEnds) != 0) names.push_back("ends");
  if ((flags & kTraps) != 0) names.push_back("traps");
  if ((flags & kCalls) != 0) names.push_back("calls");
  if ((flags & kSlow) != 0) names.push_back("slow");
  if ((flags & kGrows) != 0) names.push_back("grows");
  return names;
}

std::string_view family_name(Family family) {
  constexpr std::string_view names[] = {"pure", "object", "branch", "control"};
  return names[static_cast<size_t>(family)];
}

std::string code_text(uint16_t code) {
  constexpr std::string_view digits = "0123456789abcdef";
  return {'0', 'x', digits[code >> 8], digits[(code >> 4) & 15], digits[code & 15]};
}

std::string_view meaning(uint16_t code) {
  switch (static_cast<Opcode>(code)) {
    // clang-format 14 would move the #include into the macro.
    // clang-format off
#define OP(number, name, mnemonic, operands, flags, sentence) case Opcode::name: return sentence;
#include "bytecode/isa.inc"
    // clang-format on
  }
  return {};
}

template <typename Visit>
void for_each_row(Visit visit) {
  for (uint16_t code = 0; code < kOpcodeLimit; ++code) {
    if (const InstructionInfo* row = find_info(code)) visit(code, *row);
  }
}

// Meanings contain no control characters.
std::string json_string(std::string_view value) {
  std::string result = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

template <typename List, typename Print>
std::string joined(const List& list, std::string_view joint, Print print) {
  std::string result;
  for (const auto& element : list) result += text(result.empty() ? "" : joint, print(element));
  return result;
}

}  // namespace

std::string isa_markdown() {
  std::string result =
      "# Instructions\n\n"
      "Generated from `bytecode/isa.inc` by `baton-isa --markdown`; a test fails when it is stale. How operands are "
      "encoded: `bytecode/operand.hpp`. How programs are written: `bytecode/README.md`.\n\n"
      "A register stands here as its part in the instruction and its bank, `lhs=%v` or `target=%r`, as in "
      "`baton-dump-module "
      "--disassembly`; a program writes `%v2` or `%r0`.\n\n"
      "*Ends*: control never reaches the next instruction. *Traps*: may trap. *Calls*: transfers to another "
      "function. *Slow*: takes as long as dozens of additions, and pays for it when limits are looked at. *Grows*: so "
      "does what takes longer for larger operands; it is done in stretches.\n";
  for (const Section& section : make_sections()) {
    result += text("\n## ", section.title, "\n\n| code | instruction | words | meaning | |\n|---|---|---|---|---|\n");
    for (const uint16_t code : section.codes) {
      const InstructionInfo& row = *find_info(code);
      const std::string flags = joined(flag_names(row.flags), ", ", [](std::string_view name) { return name; });
      result += text("| ", code_text(code), " | `", example(code, row), "` | ", uint32_t{row.operands().words}, " | ",
                     meaning(code), " | ", flags, " |\n");
    }
  }
  return result;
}

std::string isa_json() {
  std::string rows;
  for_each_row([&](uint16_t code, const InstructionInfo& row) {
    size_t index = 0;
    const std::string operands = joined(row.operands(), ", ", [&](const Operand& operand) {
      const std::string slot =
          is_value_register(operand.kind) ? text(", \"type\": ", json_string(slot_name(operand.slot))) : std::string();
      const std::string_view name = operand_name(static_cast<Opcode>(code), index++);
      return text("{\"name\": ", json_string(name), ", \"kind\": ", json_string(kind_name(operand.kind)), slot, "}");
    });
    rows +=
        text(rows.empty() ? "" : ",\n", "  {\"code\": ", uint32_t{code},
             ", \"mnemonic\": ", json_string(row.mnemonic()), ", \"family\": ", json_string(family_name(row.family)),
             ", \"words\": ", uint32_t{row.operands().words}, ", \"operands\": [", operands, "], \"flags\": [",
             joined(flag_names(row.flags), ", ", json_string), "], \"meaning\": ", json_string(meaning(code)), "}");
  });
  return text("{\"isa_version\": ", kIsaVersion, ", \"instructions\": [\n", rows, "\n]}\n");
}

std::string isa_encoding() {
  std::string result;
  for_each_row([&](uint16_t code, const InstructionInfo& row) {
    const std::string operands =
        joined(row.operands(), "", [](const Operand& operand) { return text(" ", operand_text(operand)); });
    result += text(code_text(code), " ", row.mnemonic(), operands, "\n");
  });
  return result;
}

}  // namespace baton::bytecode
