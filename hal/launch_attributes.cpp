#include "hal/launch_attributes.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace baton::hal {
namespace {

constexpr int64_t kParametersMax = 1024;  // More than fit what devices take.
constexpr int64_t kUnsignedMax = std::numeric_limits<uint32_t>::max();

struct Attribute {
  std::string_view name;
  int64_t least, most;
  void (*set)(EntryPoint& entry, int64_t value);
};

constexpr Attribute kAttributes[] = {
    {"cluster_size_x", 1, kUnsignedMax,
     [](EntryPoint& entry, int64_t value) { entry.launch.cluster_size[0] = static_cast<uint32_t>(value); }},
    {"cluster_size_y", 1, kUnsignedMax,
     [](EntryPoint& entry, int64_t value) { entry.launch.cluster_size[1] = static_cast<uint32_t>(value); }},
    {"cluster_size_z", 1, kUnsignedMax,
     [](EntryPoint& entry, int64_t value) { entry.launch.cluster_size[2] = static_cast<uint32_t>(value); }},
    {"cooperative", 0, 1, [](EntryPoint& entry, int64_t value) { entry.launch.cooperative = value != 0; }},
    {"early", 0, 1, [](EntryPoint& entry, int64_t value) { entry.launch.early = value != 0; }},
    {"local_memory_carveout_percent", 0, 100,
     [](EntryPoint& entry, int64_t value) {
       entry.launch.local_memory_carveout_percent = static_cast<uint32_t>(value);
     }},
    {"priority", std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(),
     [](EntryPoint& entry, int64_t value) { entry.launch.priority = static_cast<int32_t>(value); }},
    {"subgroup_size", 1, kUnsignedMax,
     [](EntryPoint& entry, int64_t value) { entry.launch.subgroup_size = static_cast<uint32_t>(value); }},
};

// Handles "binding_parameter", which is no launch attribute: it numbers the next parameter that a binding fills.
Status add_binding_place(EntryPoint& entry, int64_t index) {
  if (index < 0 || index >= kParametersMax) {
    return failure(StatusCode::kOutOfRange, "A binding is parameter ", index, "; it may be 0 to ", kParametersMax - 1,
                   ".");
  }
  std::vector<uint32_t>& places = entry.binding_places;
  const auto place = static_cast<uint32_t>(index);
  const auto next = std::lower_bound(places.begin(), places.end(), place);
  if (next != places.end() && *next == place) {
    return failure(StatusCode::kInvalidArgument, "A binding is parameter ", index, ", which is said twice.");
  }
  places.insert(next, place);
  return {};
}

}  // namespace

Status set_launch_attribute(EntryPoint& entry, std::string_view name, int64_t value) {
  if (name == "binding_parameter") return add_binding_place(entry, value);
  std::vector<std::string_view> names;
  for (const Attribute& each : kAttributes) {
    names.push_back(each.name);
    if (each.name != name) continue;
    if (value < each.least || value > each.most) {
      return failure(StatusCode::kOutOfRange, "Launch attribute '", name, "' is ", value, "; it may be ", each.least,
                     " to ", each.most, ".");
    }
    each.set(entry, value);
    return {};
  }
  const std::string near = nearest_names(name, names);
  return failure(StatusCode::kNotFound, "There is no launch attribute '", name, "' (", names.size(), " are known)",
                 near.empty() ? "." : "; ", near);
}

}  // namespace baton::hal
