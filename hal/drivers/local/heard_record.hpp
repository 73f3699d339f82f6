// A record that tells its label when it ran: another `run` stands in front of its own. Recordings that nobody observes
// have none.
#pragma once

#include "hal/drivers/local/recording.hpp"
#include "hal/work_label.hpp"

namespace baton::hal::drivers::local {

struct Heard {
  Record::Run run;
  const WorkLabel* label;
};

inline Status run_heard(const Record& record, const Execution& execution, Worker& worker, TileRange tiles) {
  const int64_t begin_ns = Timeline::clock_ns();
  Status status = record.heard->run(record, execution, worker, tiles);
  record.heard->label->ran({begin_ns, Timeline::clock_ns() - begin_ns, tiles.begin == 0});
  return status;
}

inline void hear(Arena& arena, Record& record, const WorkLabel& label) {
  record.heard = arena.make<Heard>(record.run, &label);
  record.run = run_heard;
}

}  // namespace baton::hal::drivers::local
