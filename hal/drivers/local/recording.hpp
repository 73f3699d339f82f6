// Recording: commands as the local driver runs them: records in an arena, each a function and what it needs,
// precomputed.
//
// The essay. A binding is stored as a base and an offset. Base 0 is address 0, so that a fixed buffer's binding is its
// absolute address; base s + 1 is what the table puts into slot s. Running a command adds one number per binding: fixed
// and slot bindings take the same path, nothing is patched, and the recording stays immutable, so that many executions
// of it may be in flight at once.
//
// Work is cut into tiles that may run at once and in any order: the workgroups of a dispatch, stretches of a transfer.
// The records between two barriers form a phase. local-sync walks the records; local-task gives the tiles of one phase
// after the other to its workers.
#pragma once

#include <span>

#include "base/call_place.hpp"
#include "base/work_limits.hpp"
#include "hal/drivers/common/host_allocator.hpp"
#include "hal/drivers/local/measured_cost.hpp"
#include "hal/recording.hpp"

namespace baton::hal::drivers::local {

class Worker;
struct Record;

// One execution of a recording: what its slots mean.
struct Execution {
  Device& device;
  const uintptr_t* bases;                      // [0] is 0, [s + 1] the address of slot s.
  const uint64_t* lengths;                     // Beside the bases: how long a slot is.
  const uint32_t* constants;                   // By constant slot.
  WorkLimits* limits = WorkLimits::current();  // Of the call, or of the operation that it has left behind.
  uint32_t indirect_grid[3] = {};              // Of the indirect dispatch that is running: alone in its phase.
};

struct TileRange {
  uint64_t begin;
  uint64_t end;
};

struct Record {
  using Run = Status (*)(const Record& record, const Execution& execution, Worker& worker, TileRange tiles);
  using CountTiles = Status (*)(const Record& record, Execution& execution, uint64_t& tile_count);

  Run run = nullptr;
  Record* next = nullptr;
  uint64_t tile_count = 1;
  CountTiles count_tiles = nullptr;   // Not null: how many tiles is known only when its phase begins.
  MeasuredCost* tile_cost = nullptr;  // Of all records like it; null: not kept (code of the host).
};

// Part of a record.
struct RecordedBinding {
  uint32_t base;
  bool open;  // Up to the end of the slot: `length` is minus the offset then.
  uint64_t offset;
  uint64_t length;

  static RecordedBinding make(const Binding& binding) {
    if (!binding.is_slot()) {
      return {0, false, reinterpret_cast<uintptr_t>(host_data(*binding.buffer)) + binding.offset, binding.length};
    }
    const bool open = binding.is_open();
    return {binding.slot + 1, open, binding.offset, open ? -binding.offset : binding.length};
  }
  uintptr_t address(const Execution& execution) const { return execution.bases[base] + offset; }
  std::byte* data(const Execution& execution) const { return reinterpret_cast<std::byte*>(address(execution)); }
  uint64_t size(const Execution& execution) const { return open ? execution.lengths[base] + length : length; }
};

inline std::span<const RecordedBinding> record_bindings(Arena& arena, std::span<const Binding> bindings) {
  RecordedBinding* recorded = arena.allocate_array<RecordedBinding>(bindings.size());
  for (size_t i = 0; i < bindings.size(); ++i) recorded[i] = RecordedBinding::make(bindings[i]);
  return {recorded, bindings.size()};
}

struct PhaseEntry {
  uint64_t first_tile;  // Within the phase.
  const Record* record;
};
struct Phase {
  std::span<const PhaseEntry> entries;
  uint64_t tile_count;
  Phase* next;
  MeasuredCost* mean_cost = nullptr;  // Of the tiles of several records.

  // Null: not kept.
  MeasuredCost* tile_cost() const { return entries.size() == 1 ? entries[0].record->tile_cost : mean_cost; }
};

class Recording final : public hal::Recording {
 public:
  Recording(Device& device, const RecordingOptions& options) : hal::Recording(device, options) {}
  ~Recording() override {
    places_.for_each([](const CallPlace::Module* module) { module->release(*module); });
  }

  const Record* first_record() const { return first_; }
  const Phase* first_phase() const { return first_phase_; }
  // Host calls and foreign calls, which may block.
  bool runs_host_code() const { return runs_host_code_; }
  // The time that one thread takes for it, as far as it is known; stops adding at `limit_ns`, and gives more than that
  // when some part is unknown.
  double expected_ns(double limit_ns) const;

 private:
  friend class CommandBuffer;

  // Keeps alive what can name the place. Commands of one program come one after the other.
  void keep(const CallPlace& place) {
    if (place.module == last_place_) return;
    last_place_ = place.module;
    last_place_->retain(*last_place_);
    places_.push(arena_, last_place_);
  }

  ArenaList<const CallPlace::Module*> places_;
  const CallPlace::Module* last_place_ = nullptr;
  Record* first_ = nullptr;
  Phase* first_phase_ = nullptr;
  bool runs_host_code_ = false;
};

}  // namespace baton::hal::drivers::local
