// Single values out of a JSON object, for metadata of a few lines: no tree is made.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.hpp"

namespace baton::modules {

// The text of the value of `key` in the outermost object: `90`, `"cuda"`, `{"arch": 90}`; nothing where it is not
// there. INVALID_ARGUMENT where the text is no JSON object as far as it had to be read.
Result<std::optional<std::string_view>> json_field(std::string_view object, std::string_view key);

}  // namespace baton::modules
