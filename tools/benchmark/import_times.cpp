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
  const bytecode::ImportView import = module.bytecode->view().import(index);
  auto found = imports_.find(import.name);
  if (found == imports_.end()) {
    found = imports_.emplace(import.name, Import()).first;
    found->second.phase = phase_of(import.name, import.signature);
  }
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
  std::vector<Share> shares;
  for (const auto& [name, import] : imports_) shares.push_back({name, import.calls, import.total_ns});
  std::string phases;
  for (const std::string_view phase : {"record", "submit", "wait", "other"}) {
    int64_t total_ns = 0;
    for (const auto& [name, import] : imports_) total_ns += import.phase == phase ? import.total_ns : 0;
    phases += text(phases.empty() ? "  of which " : ", ", phase, " ",
                   duration_text(static_cast<double>(total_ns) / static_cast<double>(calls)));
  }
  return text(describe_shares(std::move(shares), calls, "calls"), phases, "\n");
}

std::string_view phase_of(std::string_view import, std::string_view signature) {
  if (import.starts_with("hal.command_buffer.") || signature.starts_with("r<hal.command_buffer>")) return "record";
  if (import.starts_with("hal.queue.")) return "submit";
  if (import == "hal.fence.await" || import == "hal.fence.check") return "wait";
  return "other";
}

std::string describe_shares(std::vector<Share> shares, uint64_t calls, std::string_view what) {
  std::sort(shares.begin(), shares.end(),
            [](const Share& left, const Share& right) { return left.total_ns > right.total_ns; });
  size_t width = 0;
  for (const Share& share : shares) width = std::max(width, share.name.size());
  std::string table;
  for (const Share& share : shares) {
    const double total_ns = static_cast<double>(share.total_ns);
    char count[32], times[64];
    std::snprintf(count, sizeof(count), "  %8.2f ", static_cast<double>(share.count) / static_cast<double>(calls));
    std::snprintf(times, sizeof(times), "  %10s in all  %10s each\n",
                  duration_text(total_ns / static_cast<double>(calls)).c_str(),
                  duration_text(total_ns / static_cast<double>(std::max<uint64_t>(share.count, 1))).c_str());
    table += text("  ", share.name, std::string(width - share.name.size(), ' '), count, what, times);
  }
  return table;
}

}  // namespace baton::tools
