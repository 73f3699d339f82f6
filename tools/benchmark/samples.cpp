#include "tools/benchmark/samples.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace baton::tools {
namespace {

// By linear interpolation between the neighbours; `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double nanoseconds_of(std::string_view unit) {
  if (unit == "us") return 1e3;
  if (unit == "ms") return 1e6;
  if (unit == "s") return 1e9;
  return 1;
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

constexpr std::string_view kClockWords[] = {"/real_time", "/manual_time"};

}  // namespace

std::string plain_name(std::string_view name) {
  std::string plain(name);
  for (const std::string_view word : kClockWords) {
    if (const size_t at = plain.find(word); at != std::string::npos) plain.erase(at, word.size());
  }
  // Removes from the name how often a benchmark runs, too.
  if (const size_t at = plain.find("/iterations:"); at != std::string::npos) {
    plain.erase(at, std::min(plain.find('/', at + 1), plain.size()) - at);
  }
  return plain;
}

bool counts_real_time(std::string_view name) {
  return std::any_of(std::begin(kClockWords), std::end(kClockWords),
                     [&](std::string_view word) { return name.find(word) != name.npos; });
}

double median_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return quantile(samples, 0.5);
}

double spread_of(const std::vector<double>& samples) {
  if (samples.size() < 3) return 0;
  std::vector<double> sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  return (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / quantile(sorted, 0.5);
}

Conditions read_conditions(std::string_view json) {
  const nlohmann::json document = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || !document.contains("context") || !document["context"].is_object()) return {};
  Conditions conditions;
  for (const auto& [key, value] : document["context"].items()) {
    if (!key.starts_with(kConditionPrefix) || !value.is_string()) continue;
    conditions[key.substr(kConditionPrefix.size())] = value.get<std::string>();
  }
  return conditions;
}

std::string first_difference(const Conditions& before, const Conditions& now) {
  for (const auto& [name, value] : before) {
    const auto found = now.find(name);
    if (found != now.end() && found->second != value) return text(name, ": '", value, "', now '", found->second, "'");
  }
  return {};
}

Result<Samples> read_samples(std::string_view json, std::string_view name) {
  const nlohmann::json document = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || !document.contains("benchmarks") || !document["benchmarks"].is_array())
    return failure(StatusCode::kInvalidArgument, "'", name, "' is not what --benchmark_out= writes");
  Samples samples;
  for (const nlohmann::json& run : document["benchmarks"]) {
    if (!run.is_object() || text_at(run, "run_type") != "iteration") continue;
    const std::string full_name = text_at(run, "name");
    const auto time = run.find(counts_real_time(full_name) ? "real_time" : "cpu_time");
    if (time == run.end() || !time->is_number()) continue;
    samples[plain_name(full_name)].push_back(time->get<double>() * nanoseconds_of(text_at(run, "time_unit")));
  }
  if (samples.empty()) return failure(StatusCode::kInvalidArgument, "'", name, "' holds no measurements");
  return samples;
}

}  // namespace baton::tools
