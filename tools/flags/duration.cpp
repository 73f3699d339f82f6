#include "tools/flags/duration.hpp"

#include <charconv>

namespace baton::tools::flags {
namespace {

struct Unit {
  std::string_view name;
  double ns;
};
constexpr Unit kUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}};
constexpr double kLongestNs = 9e18;  // fits int64_t: 285 years

}  // namespace

Result<int64_t> parse_duration_ns(std::string_view text) {
  double count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  const std::string_view unit_name(stop, static_cast<size_t>(end - stop));
  for (const Unit& unit : kUnits) {
    if (error != std::errc() || unit.name != unit_name || !(count > 0) || count * unit.ns > kLongestNs) continue;
    return static_cast<int64_t>(count * unit.ns);
  }
  return failure(StatusCode::kInvalidArgument, "'", text, "' is not a duration, as 500ms, 2s or 1.5min are");
}

}  // namespace baton::tools::flags
