#include "hal/launch_attributes.hpp"

#include <limits>
#include <vector>

namespace baton::hal {
namespace {

constexpr int64_t kUnsignedMax = std::numeric_limits<uint32_t>::max();

struct Attribute {
  std::string_view name;
  int64_t least, most;
  void (*set)(LaunchAttributes& launch, int64_t value);
};

constexpr Attribute kAttributes[] = {
    {"cluster_size_x", 1, kUnsignedMax,
     [](LaunchAttributes& launch, int64_t value) { launch.cluster_size[0] = static_cast<uint32_t>(value); }},
    {"cluster_size_y", 1, kUnsignedMax,
     [](LaunchAttributes& launch, int64_t value) { launch.cluster_size[1] = static_cast<uint32_t>(value); }},
    {"cluster_size_z", 1, kUnsignedMax,
     [](LaunchAttributes& launch, int64_t value) { launch.cluster_size[2] = static_cast<uint32_t>(value); }},
    {"cooperative", 0, 1, [](LaunchAttributes& launch, int64_t value) { launch.cooperative = value != 0; }},
    {"early", 0, 1, [](LaunchAttributes& launch, int64_t value) { launch.early = value != 0; }},
    {"local_memory_carveout_percent", 0, 100,
     [](LaunchAttributes& launch, int64_t value) {
       launch.local_memory_carveout_percent = static_cast<uint32_t>(value);
     }},
    {"priority", std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(),
     [](LaunchAttributes& launch, int64_t value) { launch.priority = static_cast<int32_t>(value); }},
    {"subgroup_size", 1, kUnsignedMax,
     [](LaunchAttributes& launch, int64_t value) { launch.subgroup_size = static_cast<uint32_t>(value); }},
};

}  // namespace

Status set_launch_attribute(LaunchAttributes& launch, std::string_view name, int64_t value) {
  std::vector<std::string_view> names;
  for (const Attribute& each : kAttributes) {
    names.push_back(each.name);
    if (each.name != name) continue;
    if (value < each.least || value > each.most) {
      return failure(StatusCode::kOutOfRange, "Launch attribute '", name, "' is ", value, "; it may be ", each.least,
                     " to ", each.most, ".");
    }
    each.set(launch, value);
    return {};
  }
  const std::string near = nearest_names(name, names);
  return failure(StatusCode::kNotFound, "There is no launch attribute '", name, "' (", names.size(), " are known)",
                 near.empty() ? "." : "; ", near);
}

}  // namespace baton::hal
