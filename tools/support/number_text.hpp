// Floats as people write them: "1", "-0.5", "+1e-3", "inf", "nan". What is closer to zero than the type's numbers is zero, as a file of
// numbers in f64 has it for f32; beyond the largest one is nothing, and not infinity.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace baton::tools {

template <typename T>
std::optional<T> parse_float(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (stop != end || text.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {  // Which side it is out of, from_chars does not say.
    const std::string whole(text);
    if constexpr (std::is_same_v<T, float>) number = std::strtof(whole.c_str(), nullptr);
    if constexpr (std::is_same_v<T, double>) number = std::strtod(whole.c_str(), nullptr);
    return std::isinf(number) ? std::nullopt : std::optional(number);
  }
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace baton::tools
