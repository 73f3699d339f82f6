// A record that tells its label when it ran: it stands in the recording where the one does that it runs. Recordings that nobody observes have
// none.
#pragma once

#include "hal/drivers/local/recording.hpp"
#include "hal/work_label.hpp"

namespace baton::hal::drivers::local {

struct HeardRecord : Record {
  const Record* inner;
  const WorkLabel* label;
};

inline Status run_heard(const Record& record, const Execution& execution, Worker& worker, TileRange tiles) {
  const auto& heard = static_cast<const HeardRecord&>(record);
  const int64_t begin_ns = Timeline::clock_ns();
  Status status = heard.inner->run(*heard.inner, execution, worker, tiles);
  heard.label->ran({begin_ns, Timeline::clock_ns() - begin_ns, tiles.begin == 0});
  return status;
}

inline Status count_heard_tiles(const Record& record, Execution& execution, uint64_t& tile_count) {
  const Record& inner = *static_cast<const HeardRecord&>(record).inner;
  return inner.count_tiles(inner, execution, tile_count);
}

inline Record& hear(Arena& arena, const Record& record, const WorkLabel& label) {
  const Record heard = {.run = run_heard,
                        .tile_count = record.tile_count,
                        .count_tiles = record.count_tiles ? count_heard_tiles : nullptr,
                        .tile_cost = record.tile_cost};
  return *arena.make<HeardRecord>(heard, &record, &label);
}

}  // namespace baton::hal::drivers::local
