// BoundTable: what a binding table put into the slots of a recording that a driver has prepared for it.
//
// A host that executes with a large table again and again changes little of it. So a driver that patches what it
// prepared compares a table with the last one, and checks, retains and patches what differs. Of a SlotTable it looks at
// what was set since; any other table is compared as bytes: 1000 slots compare in less than a microsecond, and took 20
// to be looked at one by one. Equal bytes mean equal buffers while the last table's buffers are alive, so the
// executions keep it, and the driver does for a few milliseconds after them, unless memory is short or the recording
// goes.
// Threads: changed by the one who prepares, under its lock.
#pragma once

#include <cstring>
#include <vector>

#include "hal/slot_table.hpp"

namespace baton::hal {

struct BoundTable {
  std::vector<BufferRange> ranges;   // By slot, as they were given.
  std::vector<Ref<Buffer>> buffers;  // The same, kept; null where no command uses the slot.
  bool has_peers = false;            // Some are views of buffers of other devices, which may free them.
  // The SlotTable that was bound, and its version then; 0 for a plain table.
  uint64_t identity = 0;
  uint64_t version = 0;

  explicit BoundTable(size_t slot_count) : ranges(slot_count), buffers(slot_count) {}

  // Whether `table`, which has all of the slots, says the same.
  bool equals(const BindingTable& table) const {
    if (is_source(table) && table.kept_by->version() == version) return true;
    return ranges.empty() || std::memcmp(ranges.data(), table.buffers.data(), ranges.size() * sizeof(BufferRange)) == 0;
  }

  // Calls visit(slot) for the slots in which `table`, which has all of them, differs; a slot may be visited twice.
  template <typename Visit>
  void visit_changes(const BindingTable& table, Visit&& visit) const {
    if (visit_noted_changes(table, visit)) return;
    constexpr size_t kTogether = 64;
    for (size_t first = 0; first < ranges.size(); first += kTogether) {
      const size_t count = ranges.size() - first < kTogether ? ranges.size() - first : kTogether;
      if (std::memcmp(&ranges[first], &table.buffers[first], count * sizeof(BufferRange)) == 0) continue;
      for (size_t slot = first; slot < first + count; ++slot) {
        if (differs(slot, table)) visit(slot);
      }
    }
  }

  // Puts `range` into `slot` and keeps its buffer; the buffer that it takes the place of goes to `replaced`.
  void set(size_t slot, const BufferRange& range, std::vector<Ref<Buffer>>& replaced) {
    ranges[slot] = range;
    if (buffers[slot].get() != range.buffer) keep(slot, *range.buffer, replaced);
  }

  // The same for a slot that some command uses: what it has is what is kept, so that need not be looked at.
  void set_used(size_t slot, const BufferRange& range, std::vector<Ref<Buffer>>& replaced) {
    const bool is_other = ranges[slot].buffer != range.buffer;
    ranges[slot] = range;
    if (is_other) keep(slot, *range.buffer, replaced);
  }

  // What was set is no longer all of a SlotTable.
  void forget_source() { identity = version = 0; }

  // `table` is what was bound from here on.
  void note_source(const BindingTable& table) {
    identity = table.kept_by ? table.kept_by->identity() : 0;
    version = table.kept_by ? table.kept_by->version() : 0;
  }

 private:
  [[gnu::noinline]] void keep(size_t slot, Buffer& buffer, std::vector<Ref<Buffer>>& replaced) {
    Ref<Buffer>& kept = buffers[slot];
    if (kept) replaced.push_back(std::move(kept));
    kept = Ref<Buffer>(&buffer);
    has_peers |= buffer.is_peer();
  }

  bool differs(size_t slot, const BindingTable& table) const {
    const BufferRange& now = table.buffers[slot];
    const BufferRange& before = ranges[slot];
    return now.buffer != before.buffer || now.offset != before.offset || now.length != before.length;
  }

  // Whether `table` is, whole, the SlotTable that was bound.
  bool is_source(const BindingTable& table) const {
    const SlotTable* const source = table.kept_by;
    return source && source->identity() == identity && source->table().buffers.data() == table.buffers.data();
  }

  // Uses what the SlotTable remembers; false when it remembers too little, or the table is another one.
  template <typename Visit>
  bool visit_noted_changes(const BindingTable& table, const Visit& visit) const {
    return is_source(table) && table.kept_by->visit_sets_from(version, [&](size_t slot) {
      if (slot < ranges.size() && differs(slot, table)) visit(slot);
    });
  }
};

}  // namespace baton::hal
