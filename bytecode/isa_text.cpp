#include "bytecode/isa_text.hpp"

#include <iterator>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "bytecode/instruction_info.hpp"

namespace baton::bytecode {
namespace {

struct Section {
  uint16_t first;  // code
  std::string_view title;
};
// The headings of isa.inc, by the first code below each.
constexpr Section kSections[] = {
    {0x001, "Control"},
    {0x010, "Branches on one condition"},
    {0x050, "Constants and moves"},
    {0x060, "Integer arithmetic on i32"},
    {0x090, "Integer arithmetic on i64"},
    {0x0c0, "Compares"},
    {0x0f0, "Float arithmetic on f32"},
    {0x120, "Float arithmetic on f64"},
    {0x150, "Conversions"},
    {0x178, "Module state"},
    {0x180, "References"},
    {0x190, "Blobs"},
    {0x1c0, "Lists"},
};

std::string_view slot_name(SlotType slot) {
  constexpr std::string_view names[] = {"i32", "i64", "f32", "f64", "any"};
  return names[static_cast<size_t>(slot)];
}

// The word that isa.inc spells the operand with.
std::string_view kind_name(OperandKind kind) {
  switch (kind) {
    case OperandKind::kDef: return "Def";
    case OperandKind::kUse: return "Use";
    case OperandKind::kUpdate: return "Update";
    case OperandKind::kDefRef: return "DefRef";
    case OperandKind::kUseRef: return "UseRef";
    case OperandKind::kTakeRef: return "TakeRef";
    case OperandKind::kImm16: return "Imm16";
    case OperandKind::kImmI32: return "ImmI32";
    case OperandKind::kImmF32: return "ImmF32";
    case OperandKind::kImmI64: return "ImmI64";
    case OperandKind::kImmF64: return "ImmF64";
    case OperandKind::kNearLabel: return "NearLabel";
    case OperandKind::kLabel: return "Label";
    case OperandKind::kCallee: return "Callee";
    case OperandKind::kImport: return "Import";
    case OperandKind::kValueBase: return "ValueBase";
    case OperandKind::kRefBase: return "RefBase";
    case OperandKind::kGlobal: return "Global";
    case OperandKind::kGlobalRef: return "GlobalRef";
    case OperandKind::kRodata: return "Rodata";
    case OperandKind::kType: return "Type";
    case OperandKind::kCode: return "Code";
    case OperandKind::kCount: return "Count";
    case OperandKind::kLabels: return "Labels";
    case OperandKind::kSegments: return "Segments";
    case OperandKind::kLent: return "Lent";
  }
  return "";
}

std::string operand_text(const Operand& operand) {
  const bool has_slot = is_value_register(operand.kind);
  return has_slot ? text(kind_name(operand.kind), "(", slot_name(operand.slot), ")")
                  : std::string(kind_name(operand.kind));
}

// What stands in the operand's place in a program.
std::string operand_example(const Operand& operand, size_t& values, size_t& refs) {
  if (is_value_register(operand.kind) || operand.kind == OperandKind::kValueBase) return text("%v", values++);
  if (is_ref_register(operand.kind) || operand.kind == OperandKind::kRefBase) return text("%r", refs++);
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
    case OperandKind::kType: return "type";
    case OperandKind::kCode: return "internal";
    case OperandKind::kLabels: return "[label, ...]";
    case OperandKind::kSegments: return "[2, ...]";
    case OperandKind::kLent: return "[2, ..., %r0, null, ...]";
    default: return {};
  }
}

std::string example(const InstructionInfo& row) {
  std::string result(row.mnemonic());
  std::string_view joint = " ";
  size_t values = 0;
  size_t refs = 0;
  for (const Operand& operand : row.operands()) {
    if (operand.kind == OperandKind::kCount) continue;
    result += text(joint, operand_example(operand, values, refs));
    joint = ", ";
  }
  return result;
}

std::vector<std::string_view> flag_names(uint8_t flags) {
  std::vector<std::string_view> names;
  if ((flags & kEnds) != 0) names.push_back("ends");
  if ((flags & kTraps) != 0) names.push_back("traps");
  if ((flags & kCalls) != 0) names.push_back("calls");
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
      "encoded: "
      "`bytecode/operand.hpp`. How programs are written: `bytecode/README.md`.\n\n"
      "*Ends*: control never reaches the next instruction. *Traps*: may trap. *Calls*: transfers to another "
      "function.\n";
  size_t section = 0;
  for_each_row([&](uint16_t code, const InstructionInfo& row) {
    if (section < std::size(kSections) && code >= kSections[section].first) {
      result += text("\n## ", kSections[section].title,
                     "\n\n| code | instruction | words | meaning | |\n|---|---|---|---|---|\n");
      while (section < std::size(kSections) && code >= kSections[section].first) ++section;
    }
    const std::string flags = joined(flag_names(row.flags), ", ", [](std::string_view name) { return name; });
    result += text("| ", code_text(code), " | `", example(row), "` | ", uint32_t{row.operands().words}, " | ",
                   meaning(code), " | ", flags, " |\n");
  });
  return result;
}

std::string isa_json() {
  std::string rows;
  for_each_row([&](uint16_t code, const InstructionInfo& row) {
    const std::string operands = joined(row.operands(), ", ", [](const Operand& operand) {
      const std::string slot =
          is_value_register(operand.kind) ? text(", \"type\": ", json_string(slot_name(operand.slot))) : std::string();
      return text("{\"kind\": ", json_string(kind_name(operand.kind)), slot, "}");
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
