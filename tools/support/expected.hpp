// --expected_output=: what the results of a call shall be. Each is written as an --input= is, "(ignored)" or nothing
// for a result that may be anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/support/results.hpp"

namespace baton::tools {

// How far a float may be off: so much, by its width, and a share of what is expected. Integers are equal or not.
struct Thresholds {
  double f16 = 1e-3;  // Of all floats of 16 bits.
  double f32 = 1e-4;
  double f64 = 1e-4;
  double relative = 0;
};

// Prints a line for each result that differs, with the first element that does and how many do, or one line that all
// agree. FAILED_PRECONDITION when one differs; INVALID_ARGUMENT when an expectation is no value of its result's type.
Status check_expected(std::string_view function, std::string_view signature, std::span<const vm::Value> results,
                      const std::vector<std::string>& expected, const Thresholds& thresholds, TensorValues& tensors);

}  // namespace baton::tools
