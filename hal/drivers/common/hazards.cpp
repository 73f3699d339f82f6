#include "hal/drivers/common/hazards.hpp"

#include <algorithm>
#include <optional>

namespace baton::hal {
namespace {

struct Touch {
  uint32_t index;
  CommandKind command;
  Access access;
  ResolvedRange range;
};

struct TouchCollector : FieldVisitor {
  TouchCollector(std::vector<Touch>& into, uint32_t at, CommandKind kind, std::span<const BufferRange> with)
      : touches(into), index(at), command(kind), table(with) {}

  void binding(std::string_view, const Binding& one, BufferUsage usage) { add(one, access_of(usage)); }
  void bindings(std::string_view, std::span<const Binding> list, BufferUsage bound) {
    if (bound == BufferUsage::kNone) return;  // A barrier names memory and touches none.
    for (const Binding& one : list) add(one, one.access);
  }
  void add(const Binding& one, Access access) { touches.push_back({index, command, access, resolve(one, table)}); }

  std::vector<Touch>& touches;
  uint32_t index;
  CommandKind command;
  std::span<const BufferRange> table;
};

std::optional<HazardKind> conflict(const Touch& first, const Touch& second) {
  if (!first.range.overlaps(second.range)) return std::nullopt;
  const bool first_writes = has_all(first.access, Access::kWrite);
  if (first_writes && has_all(second.access, Access::kRead)) return HazardKind::kReadAfterWrite;
  if (first_writes && has_all(second.access, Access::kWrite)) return HazardKind::kWriteAfterWrite;
  if (has_all(first.access, Access::kRead) && has_all(second.access, Access::kWrite))
    return HazardKind::kWriteAfterRead;
  return std::nullopt;
}

class HazardFinder {
 public:
  explicit HazardFinder(std::span<const BufferRange> table) : table_(table) {}

  void add(uint32_t, const commands::Barrier& barrier) {
    if (barrier.bindings.empty()) return open_.clear();
    for (const Binding& binding : barrier.bindings) {
      const ResolvedRange ordered = resolve(binding, table_);
      std::erase_if(open_, [&](const Touch& touch) { return ordered.contains(touch.range); });
    }
  }

  template <typename Command>
  void add(uint32_t index, const Command& command) {
    const size_t before = open_.size();
    TouchCollector collector(open_, index, kind_of<Command>, table_);
    Command::visit(command, collector);
    for (size_t first = 0; first < before; ++first) {
      for (size_t second = before; second < open_.size(); ++second) compare(open_[first], open_[second]);
    }
  }

  std::vector<Hazard> take() { return std::move(hazards_); }

 private:
  void compare(const Touch& first, const Touch& second) {
    const auto kind = conflict(first, second);
    if (!kind) return;
    if (!hazards_.empty() && hazards_.back().first_index == first.index &&
        hazards_.back().second_index == second.index) {
      return;
    }
    ResolvedRange common = first.range;
    common.start = std::max(first.range.start, second.range.start);
    common.end = std::min(first.range.end, second.range.end);
    hazards_.push_back({*kind, first.index, first.command, second.index, second.command, common});
  }

  std::span<const BufferRange> table_;
  std::vector<Touch> open_;  // Since the last barrier that ordered them.
  std::vector<Hazard> hazards_;
};

}  // namespace

std::string_view hazard_name(HazardKind kind) {
  switch (kind) {
    case HazardKind::kReadAfterWrite: return "read_after_write";
    case HazardKind::kWriteAfterRead: return "write_after_read";
    case HazardKind::kWriteAfterWrite: return "write_after_write";
  }
  return "unknown";
}

std::vector<Hazard> find_hazards(const CommandList& commands, std::span<const BufferRange> table) {
  HazardFinder finder(table);
  commands.for_each([&](uint32_t index, const auto& command) { finder.add(index, command); });
  return finder.take();
}

}  // namespace baton::hal
