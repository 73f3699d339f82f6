#include "bytecode/instruction_printer.hpp"

#include <bit>
#include <charconv>
#include <limits>

#include "bytecode/assembler_lexer.hpp"
#include "bytecode/executable_view.hpp"
#include "bytecode/operand_names.hpp"

namespace baton::bytecode {
namespace {

using assembler::is_plain_name;
using assembler::quoted;

// The shortest decimal that reads back to the same bits; NaNs other than the usual one are 0x bits.
template <typename Float, typename Bits>
std::string float_text(Bits bits) {
  const auto value = std::bit_cast<Float>(bits);
  if (value != value)
    return bits == std::bit_cast<Bits>(std::numeric_limits<Float>::quiet_NaN()) ? "nan" : text(hex(bits));
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

std::string lent_text(uint16_t place) { return place == kNoRegister ? "null" : text("%r", place); }

std::string label_text(uint32_t word) { return text("L", word); }

std::string status_code_text(uint64_t code) {
  if (code > static_cast<uint64_t>(StatusCode::kUnauthenticated)) return text(code);
  return assembler::status_code_word(static_cast<StatusCode>(code));
}

bool is_register(OperandKind kind) {
  return is_value_register(kind) || is_ref_register(kind) || kind == OperandKind::kValueBase ||
         kind == OperandKind::kRefBase;
}

}  // namespace

std::string type_text(ValueType type, std::string_view ref_type) {
  if (ref_type.empty()) return std::string(value_type_name(type));
  return is_plain_name(ref_type) && !value_type_from_name(ref_type) ? std::string(ref_type) : quoted(ref_type);
}

std::string symbol_text(std::string_view name, uint32_t occurrence) {
  const std::string mark = occurrence == 0 ? std::string() : text("#", occurrence);
  return text("@", is_plain_name(name) ? std::string(name) : quoted(name), mark);
}

std::string number_text(ValueType type, uint64_t bits) {
  switch (type) {
    case ValueType::kI32: return text(static_cast<int32_t>(bits));
    case ValueType::kF32: return float_text<float>(static_cast<uint32_t>(bits));
    case ValueType::kF64: return float_text<double>(bits);
    default: return text(static_cast<int64_t>(bits));
  }
}

void InstructionPrinter::number_occurrences() {
  imports_ = {module_.import_count(), [&](uint32_t i) { return module_.import(i).name; }};
  if (!has_debug_) return;
  functions_ = {module_.function_count(), [&](uint32_t i) { return module_.function_name(i); }};
  globals_ = {module_.global_count(), [&](uint32_t i) { return module_.global_name(i); }};
  rodata_ = {module_.rodata_count(), [&](uint32_t i) { return module_.rodata_name(i); }};
}

std::string InstructionPrinter::function(uint32_t index) const {
  return has_debug_ ? symbol_text(module_.function_name(index), functions_[index]) : text("@f", index);
}

std::string InstructionPrinter::global(uint32_t index) const {
  return has_debug_ ? symbol_text(module_.global_name(index), globals_[index]) : text("@g", index);
}

std::string InstructionPrinter::rodata(uint32_t index) const {
  return has_debug_ ? symbol_text(module_.rodata_name(index), rodata_[index]) : text("@d", index);
}

// No two have the same name.
std::string InstructionPrinter::executable(uint32_t index) const {
  return symbol_text(module_.executable(index).name(), 0);
}

std::string InstructionPrinter::import(uint32_t index) const {
  return symbol_text(module_.import(index).name, imports_[index]);
}

std::string InstructionPrinter::instruction(std::span<const uint64_t> code, uint32_t word, Registers registers) const {
  const uint64_t* pc = &code[word];
  const Opcode opcode = read_opcode(pc);
  const InstructionInfo& row = info(opcode);
  std::string line(row.mnemonic());
  std::string_view joint = " ";
  for (size_t i = 0; i < row.operands().count; ++i) {
    const OperandKind kind = row.operands().operands[i].kind;
    if (kind == OperandKind::kCount) continue;
    const size_t half = row.operands().halves[i];
    line += joint;
    if (registers == Registers::kNamed && is_register(kind)) line += text(operand_name(opcode, i), "=");
    line += is_list(kind) ? list(pc, kind, half, row.operands().halves[i - 1], word) : operand(pc, kind, half, word);
    joint = ", ";
  }
  return line;
}

std::string InstructionPrinter::operand(const uint64_t* pc, OperandKind kind, size_t half, uint32_t word) const {
  const uint64_t bits = read_operand(pc, kind, half);
  const auto index = static_cast<uint32_t>(bits);
  if (is_value_register(kind) || kind == OperandKind::kValueBase) return text("%v", bits);
  if (is_ref_register(kind) || kind == OperandKind::kRefBase) return text("%r", bits);
  switch (kind) {
    case OperandKind::kImm16: return text(static_cast<int16_t>(bits));
    case OperandKind::kImmI32: return number_text(ValueType::kI32, bits);
    case OperandKind::kImmI64: return number_text(ValueType::kI64, bits);
    case OperandKind::kImmF32: return number_text(ValueType::kF32, bits);
    case OperandKind::kImmF64: return number_text(ValueType::kF64, bits);
    case OperandKind::kNearLabel: return label_text(word + static_cast<uint32_t>(int32_t{static_cast<int16_t>(bits)}));
    case OperandKind::kLabel: return label_text(word + index);
    case OperandKind::kCallee: return function(index);
    case OperandKind::kImport: return import(index);
    case OperandKind::kGlobal:
    case OperandKind::kGlobalRef: return global(index);
    case OperandKind::kRodata: return rodata(index);
    case OperandKind::kExecutable: return executable(index);
    case OperandKind::kType: return type_text(ValueType::kRef, module_.type(index));
    case OperandKind::kCode: return status_code_text(bits);
    default: return {};  // kCount and lists: printed by list().
  }
}

std::string InstructionPrinter::list(const uint64_t* pc, OperandKind kind, size_t half, size_t count_half,
                                     uint32_t word) const {
  const uint64_t count = read_operand(pc, OperandKind::kCount, count_half);
  const uint64_t* elements = pc + half / 4;
  const size_t counts =
      kind == OperandKind::kLent ? signature_shape(module_.import(read_u16<1>(pc)).signature)->segments : count;
  std::string result = "[";
  for (size_t i = 0; i < count; ++i) {
    if (i != 0) result += ", ";
    if (kind == OperandKind::kLabels) {
      result += label_text(word + static_cast<uint32_t>(read_label(elements, i)));
    } else {
      result += i < counts ? text(read_element(elements, i)) : lent_text(read_element(elements, i));
    }
  }
  return result + "]";
}

}  // namespace baton::bytecode
