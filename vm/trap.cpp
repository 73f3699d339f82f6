#include "vm/trap.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "bytecode/instruction_reader.hpp"
#include "vm/blob.hpp"
#include "vm/list.hpp"
#include "vm/stack.hpp"

namespace baton::vm {
namespace {

using bytecode::Opcode;
using bytecode::Operand;
using bytecode::OperandKind;
using bytecode::SlotType;

struct TrapText {
  StatusCode code;
  std::string_view sentence;
};
TrapText trap_text(TrapKind kind) {
  switch (kind) {
    case TrapKind::kNone: break;
#define TRAP(name, code, sentence) \
  case TrapKind::name: return {StatusCode::code, sentence};
      BATON_TRAPS(TRAP)
#undef TRAP
  }
  return {StatusCode::kInternal, "no trap"};
}

// A frame of the backtrace: its module, and the word of its instruction.
struct Place {
  const LinkedModule& module;
  const Function& function;
  const uint64_t* pc;

  const bytecode::ModuleView& view() const { return module.bytecode->view(); }
  uint32_t word() const { return static_cast<uint32_t>(pc - function.code); }

  std::string describe() const {
    const std::string_view name = view().function_name(function.index);
    std::string text_of = text(module.module->name(), ".");
    text_of += name.empty() ? text("function ", function.index) : text(name);
    text_of += text(", word ", word());
    if (const auto source = view().location(view().function(function.index).code_begin + word())) {
      text_of += text(" (", source->file, ":", source->line, ":", source->column, ")");
    }
    return text_of;
  }
};

std::string describe_reference(Object* object) {
  if (!object) return "null";
  if (const Blob* blob = as_blob(object)) return text("a blob of ", blob->size, " bytes");
  if (const List* list = as_list(object)) return text("a list of ", list->size());
  return text("a ", object->type->name);
}

std::string describe_value(Value value, SlotType slot) {
  switch (slot) {
    case SlotType::kI32: return text(value.i32);
    case SlotType::kI64: return text(value.i64);
    case SlotType::kF32: return text(static_cast<double>(value.f32));
    case SlotType::kF64: return text(value.f64);
    case SlotType::kAny: return text(hex(value.bits));
  }
  return {};
}

// What the instruction was given: "div.s.i32: 5, 0". Registers are as they were: a step that traps writes nothing.
std::string describe_instruction(const Machine& machine) {
  const bytecode::InstructionInfo& row = bytecode::info(bytecode::read_opcode(machine.pc));
  std::string inputs(row.mnemonic());
  const char* joint = ": ";
  for (size_t i = 0; i < row.operands().count; ++i) {
    const Operand operand = row.operands().operands[i];
    const uint64_t number = bytecode::read_operand(machine.pc, operand.kind, row.operands().halves[i]);
    std::string input;
    switch (operand.kind) {
      case OperandKind::kUse:
      case OperandKind::kUpdate: input = describe_value(machine.window_values[number], operand.slot); break;
      case OperandKind::kUseRef: input = describe_reference(machine.window_refs[number]); break;
      case OperandKind::kImm16: input = text(static_cast<int16_t>(number)); break;
      case OperandKind::kType:
        input = machine.state->linked->bytecode->view().type(static_cast<uint32_t>(number));
        break;
      default: continue;
    }
    inputs += joint + input;
    joint = ", ";
  }
  return inputs;
}

std::string_view import_name(const Machine& machine) {
  const auto index = bytecode::read_u16<1>(machine.pc);  // The first operand of both import calls.
  return machine.state->linked->bytecode->view().import(index).name;
}

std::string_view message_text(const Machine& machine) {
  const uint32_t index = bytecode::read_u32<2>(machine.pc);  // The second operand of fail and assert.
  const auto bytes = machine.state->linked->bytecode->view().rodata(index);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Status headline(Machine& machine) {
  const auto [code, sentence] = trap_text(machine.trap);
  switch (machine.trap) {
    case TrapKind::kFail:
      return Status(static_cast<StatusCode>(bytecode::read_u16<1>(machine.pc)), std::string(message_text(machine)));
    case TrapKind::kAssert: return Status(code, std::string(message_text(machine)));
    case TrapKind::kNativeFailed:
      return Status::adopt(std::exchange(machine.failure, nullptr))
          .with_context(text("from import '", import_name(machine), "'"));
    case TrapKind::kUnresolvedImport: return Status(code, text(sentence, ": '", import_name(machine), "'"));
    case TrapKind::kBudgetExhausted: return Status(code, text(sentence, " (", machine.instruction_budget, ")"));
    case TrapKind::kStackOverflow:
      return Status(code, text(sentence, " (", machine.frame - machine.frames + 1, " frames)"));
    case TrapKind::kDeadline:
    case TrapKind::kCancelled: return Status(code, std::string(sentence));
    default: return Status(code, text(sentence, " (", describe_instruction(machine), ")"));
  }
}

// Recursion may be deep: the newest frames tell where, the oldest who began.
constexpr size_t kNewestFrames = 12;
constexpr size_t kOldestFrames = 4;

std::string backtrace(const Machine& machine) {
  std::string lines;
  const uint64_t* pc = machine.pc;
  const ModuleState* state = machine.state;
  const auto depth = static_cast<size_t>(machine.frame - machine.frames) + 1;
  for (size_t i = 0; i < depth; ++i) {
    const Frame& frame = *(machine.frame - i);
    if (i < kNewestFrames || i + kOldestFrames >= depth) {
      lines += text(i == 0 ? "at " : "\n  called from ", Place{*state->linked, *frame.function, pc}.describe());
    } else if (i == kNewestFrames) {
      lines += text("\n  ... ", depth - kNewestFrames - kOldestFrames, " more ...");
    }
    pc = frame.return_pc - 1;  // The last word of the call.
    state = frame.state;
  }
  return lines;
}

}  // namespace

Status describe_trap(Machine& machine) {
  if (!machine.frame) return headline(machine);  // No bytecode runs.
  return headline(machine).with_context(backtrace(machine));
}

}  // namespace baton::vm
