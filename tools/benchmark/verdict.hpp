// What measurements are worth: how noisy they are, and whether a difference between two runs is more than noise.
#pragma once

#include <string>
#include <vector>

#include "tools/benchmark/samples.hpp"

namespace baton::tools {

// Differences below this are never called one: alignment and page placement alone do as much between two processes.
constexpr double kSmallestDifference = 0.1;
// Above this noise two runs cannot be called equal.
constexpr double kDecidableNoise = 0.25;
// Beyond this spread a figure says more about the machine than about the program.
constexpr double kTrustedSpread = 0.05;

struct Difference {
  // kUnclear: the difference is within the noise, and the noise is too large to call the runs the same.
  enum class Verdict { kSame, kFaster, kSlower, kUnclear, kUnknown };

  std::string name;
  double before_ns = 0;
  double now_ns = 0;
  double noise = 0;  // What a difference must exceed, as a part.
  Verdict verdict = Verdict::kUnknown;

  double ratio() const { return now_ns / before_ns; }
};

// The benchmarks that both have, in the order of their names. Unknown when one of them has fewer than three samples.
// Where both measured the reference, noise is at least what the machine itself changed.
std::vector<Difference> compare(const Samples& before, const Samples& now);

// A table and a closing sentence: "Nothing changed.", or what did and how much, and of what it cannot be told.
std::string describe(const std::vector<Difference>& differences);

// The names with such a verdict, as "'f', 'g'"; empty when there is none.
std::string names_with(const std::vector<Difference>& differences, Difference::Verdict verdict);

// "Noise: ..." with the widest spread and whether to trust the figures.
std::string describe_noise(const Samples& samples);

}  // namespace baton::tools
