#include "hal/drivers/local/command_buffer.hpp"

#include "hal/drivers/local/launch.hpp"

namespace baton::hal::drivers::local {
namespace {

// Of the tiles of several records: what is known of each so far, and from here on a cost of its own.
MeasuredCost* mean_cost(Arena& arena, const Phase& phase) {
  double sum_ns = 0;
  bool known = phase.tile_count != 0;
  for (const PhaseEntry& entry : phase.entries) {
    const MeasuredCost* cost = entry.record->tile_cost;
    known &= cost && cost->known();
    if (known) sum_ns += cost->ns() * static_cast<double>(entry.record->tile_count);
  }
  return arena.make<MeasuredCost>(known ? sum_ns / static_cast<double>(phase.tile_count) : 0.0);
}

}  // namespace

void CommandBuffer::note_place(Launch& launch) {
  const CallPlace place = CallPlace::current();
  if (!place.module) return;
  launch.place = arena().make<CallPlace>(place);
  recording_->keep(place);
}

// A command with an unknown number of tiles is a phase of its own: it waits for the grid and all wait for it.
void CommandBuffer::add(Record& record) {
  if (record.count_tiles) end_phase();
  *end_ = &record;
  end_ = &record.next;
  if (phase_size_++ == 0) phase_first_ = &record;
  if (record.count_tiles) end_phase();
}

void CommandBuffer::end_phase() {
  if (phase_size_ == 0) return;
  PhaseEntry* entries = arena().allocate_array<PhaseEntry>(phase_size_);
  uint64_t tile_count = 0;
  const Record* record = phase_first_;
  for (size_t i = 0; i < phase_size_; ++i, record = record->next) {
    entries[i] = {tile_count, record};
    tile_count += record->tile_count;
  }
  Phase* phase = arena().make<Phase>(std::span<const PhaseEntry>(entries, phase_size_), tile_count, nullptr);
  if (phase_size_ > 1) phase->mean_cost = mean_cost(arena(), *phase);
  *phase_end_ = phase;
  phase_end_ = &phase->next;
  phase_size_ = 0;
}

Result<Ref<hal::Recording>> CommandBuffer::finish() {
  end_phase();
  return Ref<hal::Recording>(std::move(recording_));
}

}  // namespace baton::hal::drivers::local
