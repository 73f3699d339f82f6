// "500ms", "2s", "100us", "250ns", "1.5s" → nanoseconds.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace baton::tools::flags {

Result<int64_t> parse_duration_ns(std::string_view text);

}  // namespace baton::tools::flags
