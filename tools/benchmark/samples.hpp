// What a benchmark measured, in the form that judging needs: the times of its repetitions, by name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace baton::tools {

// Nanoseconds of one iteration, one sample a repetition.
using Samples = std::map<std::string, std::vector<double>>;

double median_of(std::vector<double> samples);

// How far samples lie apart: the range of the middle half, as a part of the median; 0 for fewer than three.
double spread_of(const std::vector<double>& samples);

// Google Benchmark's name of a run without the words that say which clock it was measured with; the clock that counts
// is the thread's own where the run has no such word: others that take the core do not count in it.
std::string plain_name(std::string_view name);
bool counts_real_time(std::string_view name);

// Work of ours that never changes, measured in every run: what the machine itself was worth at that time.
constexpr char kReference[] = "machine.reference";

// What a run was measured with, by name: its inputs, devices, batches. Runs compare only where these agree.
using Conditions = std::map<std::string, std::string>;
inline constexpr std::string_view kConditionPrefix = "baton.";

// The conditions in the same JSON, without the prefix; none in what an earlier version wrote.
Conditions read_conditions(std::string_view json);
// "" when they agree, else the first that differs: "inputs: '4', now '5'". A name that only one run has is not
// compared.
std::string first_difference(const Conditions& before, const Conditions& now);

// From the JSON that --benchmark_out= wrote; `name` is for messages.
Result<Samples> read_samples(std::string_view json, std::string_view name);

}  // namespace baton::tools
