#include "tools/benchmark/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.hpp"

namespace baton::tools {
namespace {

constexpr size_t kSamplesMin = 3;

std::string percent(double part) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", part * 100);
  return text;
}

// How much faster or slower the machine itself was, as a factor; 1 when one of the runs did not measure it.
double machine_factor(const Samples& before, const Samples& now) {
  const auto then = before.find(kReference);
  const auto since = now.find(kReference);
  if (then == before.end() || since == now.end()) return 1;
  const double factor = median_of(since->second) / median_of(then->second);
  return std::max(factor, 1 / factor);
}

Difference compare_one(const std::string& name, const std::vector<double>& before, const std::vector<double>& now,
                       double machine) {
  Difference difference{name, median_of(before), median_of(now)};
  // Medians of two runs may each lie anywhere in their spread.
  difference.noise = std::max(kSmallestDifference, spread_of(before) + spread_of(now));
  difference.noise = (1 + difference.noise) * machine - 1;
  if (before.size() < kSamplesMin || now.size() < kSamplesMin) return difference;
  if (std::abs(std::log(difference.ratio())) <= std::log1p(difference.noise)) {
    const bool decidable = difference.noise <= kDecidableNoise;
    difference.verdict = decidable ? Difference::Verdict::kSame : Difference::Verdict::kUnclear;
  } else {
    difference.verdict = difference.ratio() > 1 ? Difference::Verdict::kSlower : Difference::Verdict::kFaster;
  }
  return difference;
}

const char* word(Difference::Verdict verdict) {
  switch (verdict) {
    case Difference::Verdict::kSame: return "same";
    case Difference::Verdict::kFaster: return "FASTER";
    case Difference::Verdict::kSlower: return "SLOWER";
    case Difference::Verdict::kUnclear: return "unclear";
    case Difference::Verdict::kUnknown: break;
  }
  return "unknown: fewer than 3 repetitions";
}

std::string change_of(const Difference& difference) {
  const bool slower = difference.verdict == Difference::Verdict::kSlower;
  const double part = slower ? difference.ratio() - 1 : 1 - difference.ratio();
  return text("'", difference.name, "' is ", percent(part), slower ? " slower" : " faster");
}

}  // namespace

std::vector<Difference> compare(const Samples& before, const Samples& now) {
  const double machine = machine_factor(before, now);
  std::vector<Difference> differences;
  for (const auto& [name, samples] : now) {
    const auto old = before.find(name);
    if (name != kReference && old != before.end())
      differences.push_back(compare_one(name, old->second, samples, machine));
  }
  return differences;
}

std::string describe(const std::vector<Difference>& differences) {
  if (differences.empty()) return "The runs have no benchmark in common.\n";
  size_t width = 0;
  for (const Difference& difference : differences) width = std::max(width, difference.name.size());
  std::string table;
  std::string changes;
  for (const Difference& difference : differences) {
    char line[160];
    std::snprintf(line, sizeof(line), "  %12.1f ns  %12.1f ns  x %.3f  (noise %s)  %s\n", difference.before_ns,
                  difference.now_ns, difference.ratio(), percent(difference.noise).c_str(), word(difference.verdict));
    table += text(difference.name, std::string(width - difference.name.size(), ' '), line);
    if (difference.verdict == Difference::Verdict::kSlower || difference.verdict == Difference::Verdict::kFaster)
      changes += text(changes.empty() ? "" : ", ", change_of(difference));
  }
  const std::string unclear = names_with(differences, Difference::Verdict::kUnclear);
  if (unclear.empty()) return text(table, changes.empty() ? "Nothing changed" : changes, ".\n");
  return text(table, changes.empty() ? "" : text(changes, ". "), "Unclear, because of the noise: ", unclear, ".\n");
}

std::string names_with(const std::vector<Difference>& differences, Difference::Verdict verdict) {
  std::string names;
  for (const Difference& difference : differences) {
    if (difference.verdict == verdict) names += text(names.empty() ? "'" : ", '", difference.name, "'");
  }
  return names;
}

std::string describe_noise(const Samples& samples) {
  std::string widest;
  double spread = -1;
  for (const auto& [name, times] : samples) {
    if (times.size() < kSamplesMin || spread_of(times) <= spread) continue;
    widest = name;
    spread = spread_of(times);
  }
  if (spread < 0) return "Noise: unknown; it takes 3 repetitions to tell.\n";
  return text("Noise: the middle half of '", widest, "' lies within ", percent(spread),
              spread <= kTrustedSpread ? " of its median; the figures can be trusted.\n"
                                       : " of its median; do not trust differences smaller than that.\n");
}

}  // namespace baton::tools
