#include "modules/kernel_library/spirv_kernels.hpp"

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "hal/code_format.hpp"

namespace baton::modules {

bool is_spirv(std::string_view format) { return format == "spirv" || format.starts_with("vulkan-"); }

Status find_in_spirv(std::string_view library, std::span<const hal::ExecutableVariant> variants,
                     std::string_view name) {
  std::vector<std::string> names;
  for (const hal::ExecutableVariant& variant : variants) {
    if (!is_spirv(variant.format)) continue;
    auto found = hal::spirv_entry_points(variant.data);
    if (!found) return std::move(found).error().with_context(text("in kernel library '", library, "'"));
    if (std::find(found->begin(), found->end(), name) != found->end()) return {};
    std::move(found->begin(), found->end(), std::back_inserter(names));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return hal::no_entry_point(text("Kernel library '", library, "'"), name, views);
}

}  // namespace baton::modules
