#include "vm/shared_references.hpp"

#include <vector>

#include "bytecode/instruction_reader.hpp"
#include "vm/list.hpp"

namespace baton::vm {
namespace {

using bytecode::ModuleView;
using bytecode::Opcode;

// Whether some global of the program may hold a list: of that type, or of any.
bool keeps_lists(std::span<const LinkedModule> modules) {
  for (const LinkedModule& module : modules) {
    for (uint32_t i = 0; i < module.global_count; ++i) {
      const bytecode::GlobalView global = module.bytecode->view().global(i);
      const bool any = global.ref_type.empty() || global.ref_type == "ref";
      if (bytecode::is_ref(global.type) && (any || global.ref_type == List::kType.name)) return true;
    }
  }
  return false;
}

bool changes_list(Opcode opcode) {
  switch (opcode) {
    case Opcode::list_reserve:
    case Opcode::list_resize:
    case Opcode::list_set_i32:
    case Opcode::list_set_i64:
    case Opcode::list_set_f32:
    case Opcode::list_set_f64:
    case Opcode::list_set_ref:
    case Opcode::list_push_i32:
    case Opcode::list_push_i64:
    case Opcode::list_push_f32:
    case Opcode::list_push_f64:
    case Opcode::list_push_ref: return true;
    default: return false;
  }
}

// The functions of a module that its exports reach, one after the other.
class CalledFunctions {
 public:
  explicit CalledFunctions(const ModuleView& view) : view_(view), seen_(view.function_count()) {
    for (uint32_t i = 0; i < view.export_count(); ++i) add(view.export_at(i).function);
    for (uint32_t i = 0; i < view.import_count(); ++i) {
      if (view.import(i).fallback != bytecode::kNoIndex) add(view.import(i).fallback);
    }
  }

  // The first that has an instruction for which `is_wanted(opcode)`; kNoIndex: none has.
  template <typename Wanted>
  uint32_t find(const Wanted& is_wanted) {
    while (!left_.empty()) {
      const uint32_t index = left_.back();
      left_.pop_back();
      const std::span<const uint64_t> code = view_.function(index).code;
      for (size_t at = 0; at < code.size();) {
        const uint64_t* const pc = code.data() + at;
        const bytecode::InstructionInfo& row = bytecode::info(bytecode::read_opcode(pc));
        if (is_wanted(bytecode::read_opcode(pc))) return index;
        for (size_t i = 0; i < row.operands().count; ++i) {
          const bytecode::OperandKind kind = row.operands().operands[i].kind;
          if (kind != bytecode::OperandKind::kCallee) continue;
          add(static_cast<uint32_t>(bytecode::read_operand(pc, kind, row.operands().halves[i])));
        }
        at += bytecode::instruction_words(pc, row);
      }
    }
    return bytecode::kNoIndex;
  }

 private:
  void add(uint32_t function) {
    if (seen_[function]) return;
    seen_[function] = true;
    left_.push_back(function);
  }

  const ModuleView& view_;
  std::vector<bool> seen_;
  std::vector<uint32_t> left_;
};

bool keeps_references(const LinkedModule& module) {
  for (uint32_t i = 0; i < module.global_count; ++i) {
    if (bytecode::is_ref(module.bytecode->view().global(i).type)) return true;
  }
  return false;
}

}  // namespace

std::string changed_shared_references(std::span<const LinkedModule> modules) {
  const bool lists = keeps_lists(modules);
  for (const LinkedModule& module : modules) {
    if (!module.bytecode || !(lists || keeps_references(module))) continue;
    const ModuleView& view = module.bytecode->view();
    Opcode found{};
    const uint32_t function = CalledFunctions(view).find([&](Opcode opcode) {
      found = opcode;
      return opcode == Opcode::global_set_ref || (lists && changes_list(opcode));
    });
    if (function == bytecode::kNoIndex) continue;
    const std::string_view name = view.function_name(function);
    const std::string numbered = text(function);
    return text("function '", view.name(), ".", name.empty() ? std::string_view(numbered) : name, "' ",
                found == Opcode::global_set_ref ? "replaces references in globals"
                                                : "changes lists, and a global may hold one");
  }
  return {};
}

}  // namespace baton::vm
