#include "hal/drivers/local/recording.hpp"

#include <limits>

namespace baton::hal::drivers::local {
namespace {

constexpr double kPhaseNs = 15;  // What a phase of nothing takes.

}  // namespace

double Recording::expected_ns(double limit_ns) const {
  double sum_ns = 0;
  for (const Phase* phase = first_phase_; phase && sum_ns <= limit_ns; phase = phase->next) {
    const MeasuredCost* cost = phase->tile_cost();
    if (!cost || !cost->known() || phase->entries[0].record->count_tiles)
      return std::numeric_limits<double>::infinity();
    sum_ns += kPhaseNs + cost->ns() * static_cast<double>(phase->tile_count);
  }
  return sum_ns;
}

}  // namespace baton::hal::drivers::local
