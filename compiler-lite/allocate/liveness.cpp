#include "compiler-lite/allocate/liveness.hpp"

#include <algorithm>

namespace baton::compiler_lite::allocate {

using emit::Block;
using emit::Edge;
using emit::Function;
using emit::Instruction;
using emit::Register;

namespace {

// What is live where a block begins, given what is live where it ends.
std::vector<bool> live_at_begin(const Block& block, std::vector<bool> live) {
  for (size_t i = block.instructions.size(); i-- > 0;) {
    const Instruction& instruction = block.instructions[i];
    for_each_register(
        instruction, [](Register) {}, [&](Register reg) { live[reg] = false; });
    for_each_register(
        instruction, [&](Register reg) { live[reg] = true; }, [](Register) {});
  }
  for (const Register parameter : block.parameters) live[parameter] = false;
  return live;
}

std::vector<bool> live_at_end(const Block& block, const std::vector<std::vector<bool>>& live_in, size_t registers) {
  std::vector<bool> live(registers);
  if (block.instructions.empty()) return live;
  for (const Edge& edge : block.instructions.back().edges) {
    for (size_t reg = 0; reg < registers; ++reg) {
      if (live_in[edge.block][reg]) live[reg] = true;
    }
  }
  return live;
}

void add_range(std::vector<Range>& ranges, Range next) {
  if (!ranges.empty() && ranges.back().end + 1 == next.begin)
    ranges.back().end = next.end;
  else
    ranges.push_back(next);
}

}  // namespace

bool Lifetime::overlaps(const Lifetime& other) const {
  size_t a = 0, b = 0;
  while (a < ranges.size() && b < other.ranges.size()) {
    if (ranges[a].begin <= other.ranges[b].end && other.ranges[b].begin <= ranges[a].end) return true;
    if (ranges[a].end < other.ranges[b].end)
      ++a;
    else
      ++b;
  }
  return false;
}

bool Lifetime::lives_across(uint32_t position) const {
  const auto is_before = [](const Range& range, uint32_t at) { return range.end <= at; };
  const auto range = std::lower_bound(ranges.begin(), ranges.end(), position, is_before);
  return range != ranges.end() && range->begin <= position;
}

Liveness find_liveness(const Function& function) {
  const size_t registers = function.banks.size();
  Liveness found;
  found.lifetimes.resize(registers);
  found.live_in.assign(function.blocks.size(), std::vector<bool>(registers));
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = function.blocks.size(); b-- > 0;) {
      std::vector<bool> live =
          live_at_begin(function.blocks[b], live_at_end(function.blocks[b], found.live_in, registers));
      if (live == found.live_in[b]) continue;
      found.live_in[b] = std::move(live);
      changed = true;
    }
  }

  uint32_t next_slot = 0;
  for (size_t b = 0; b < function.blocks.size(); ++b) {
    const Block& block = function.blocks[b];
    const uint32_t begin = next_slot;
    found.block_slots.push_back(begin);
    next_slot += 1 + static_cast<uint32_t>(block.instructions.size());
    std::vector<Range> here(registers, Range{UINT32_MAX, 0});
    const auto extend = [&](Register reg, uint32_t position) {
      here[reg].begin = std::min(here[reg].begin, position);
      here[reg].end = std::max(here[reg].end, position);
    };
    const std::vector<bool> live_out = live_at_end(block, found.live_in, registers);
    for (Register reg = 0; reg < registers; ++reg) {
      if (found.live_in[b][reg]) extend(reg, 2 * begin);
      if (live_out[reg]) extend(reg, 2 * (next_slot - 1) + 1);
    }
    for (const Register parameter : block.parameters) extend(parameter, 2 * begin + 1);
    for (size_t i = 0; i < block.instructions.size(); ++i) {
      const uint32_t slot = found.slot(b, i);
      for_each_register(
          block.instructions[i], [&](Register reg) { extend(reg, 2 * slot); },
          [&](Register reg) { extend(reg, 2 * slot + 1); });
    }
    for (Register reg = 0; reg < registers; ++reg) {
      if (here[reg].begin <= here[reg].end) add_range(found.lifetimes[reg].ranges, here[reg]);
    }
  }
  return found;
}

}  // namespace baton::compiler_lite::allocate
