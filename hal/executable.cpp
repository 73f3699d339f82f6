#include "hal/executable.hpp"

namespace baton::hal {

Result<uint32_t> Executable::find(std::string_view entry_point) {
  std::vector<std::string_view> names;
  for (uint32_t i = 0; i < entry_points_.size(); ++i) {
    if (entry_points_[i].name == entry_point) return i;
    names.push_back(entry_points_[i].name);
  }
  const std::string near = nearest_names(entry_point, names);
  return failure(StatusCode::kNotFound, "Executable '", name_, "' has no entry point '", entry_point, "' (",
                 names.size(), " entry points)", near.empty() ? "." : "; ", near);
}

}  // namespace baton::hal
