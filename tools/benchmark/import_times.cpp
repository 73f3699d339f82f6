#include "tools/benchmark/import_times.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/text.hpp"
#include "bytecode/instruction_reader.hpp"
#include "tools/benchmark/reporter.hpp"
#include "vm/invocation.hpp"

namespace baton::tools {
namespace {

// The import that the instruction calls; kNoIndex when it calls none.
uint32_t imported_by(const uint64_t* pc) {
  const bytecode::InstructionInfo& row = bytecode::info(bytecode::read_opcode(pc));
  if ((row.flags & bytecode::kCalls) == 0) return bytecode::kNoIndex;
  const bytecode::OperandList& list = row.operands();
  for (size_t i = 0; i < list.count; ++i) {
    if (list.operands[i].kind == bytecode::OperandKind::kImport)
      return static_cast<uint32_t>(bytecode::read_operand(pc, list.operands[i].kind, list.halves[i]));
  }
  return bytecode::kNoIndex;
}

}  // namespace

void ImportTimes::instruction(const vm::LinkedModule& module, const vm::Function& function, uint32_t pc) {
  end();
  const uint32_t index = imported_by(function.code + pc);
  if (index == bytecode::kNoIndex) return;
  const std::string_view name = module.bytecode->view().import(index).name;
  auto found = imports_.find(name);
  if (found == imports_.end()) found = imports_.emplace(name, Import()).first;
  running_ = &found->second;
  ++running_->calls;
  began_ns_ = vm::monotonic_clock_ns();
}

void ImportTimes::end() {
  if (!running_) return;
  running_->total_ns += vm::monotonic_clock_ns() - began_ns_;
  running_ = nullptr;
}

std::string ImportTimes::describe(uint64_t calls) const {
  if (imports_.empty()) return "  calls no imports\n";
  std::vector<std::pair<std::string, Import>> rows(imports_.begin(), imports_.end());
  std::sort(rows.begin(), rows.end(),
            [](const auto& left, const auto& right) { return left.second.total_ns > right.second.total_ns; });
  size_t width = 0;
  for (const auto& [name, import] : rows) width = std::max(width, name.size());
  std::string table;
  for (const auto& [name, import] : rows) {
    const double total_ns = static_cast<double>(import.total_ns);
    char line[128];
    std::snprintf(line, sizeof(line), "  %8.2f calls  %10s in all  %10s each\n",
                  static_cast<double>(import.calls) / static_cast<double>(calls),
                  duration_text(total_ns / static_cast<double>(calls)).c_str(),
                  duration_text(total_ns / static_cast<double>(import.calls)).c_str());
    table += text("  ", name, std::string(width - name.size(), ' '), line);
  }
  return table;
}

}  // namespace baton::tools
