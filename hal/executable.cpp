#include "hal/executable.hpp"

#include "base/text.hpp"

namespace baton::hal {

Result<uint32_t> Executable::find(std::string_view entry_point) {
  std::vector<std::string_view> names;
  for (uint32_t i = 0; i < entry_points_.size(); ++i) {
    if (entry_points_[i].name == entry_point) return i;
    names.push_back(entry_points_[i].name);
  }
  return no_entry_point(text("Executable '", name_, "'"), entry_point, names);
}

Status no_entry_point(std::string_view whose, std::string_view name, std::span<const std::string_view> names) {
  constexpr size_t kToldMax = 8;
  std::string told = nearest_names(name, names);
  if (told.empty() && !names.empty() && names.size() <= kToldMax) {
    for (const std::string_view each : names) told += text(told.empty() ? "it has '" : ", '", each, "'");
    told += ".";
  }
  return failure(StatusCode::kNotFound, whose, " has no entry point '", name, "' (", names.size(),
                 names.size() == 1 ? " entry point)" : " entry points)", told.empty() ? "." : "; ", told);
}

}  // namespace baton::hal
