#include "tools/support/phase_times.hpp"

#include <cstdio>

namespace baton::tools {

void PhaseTimes::begin(const char* phase) { phases_.push_back({phase, Clock::now()}); }

void PhaseTimes::print() {
  begin("end");
  for (size_t i = 0; i + 1 < phases_.size(); ++i) {
    const std::chrono::duration<double, std::micro> took = phases_[i + 1].begin - phases_[i].begin;
    std::fprintf(stderr, "%-12s%12.1f us\n", phases_[i].name, took.count());
  }
}

}  // namespace baton::tools
