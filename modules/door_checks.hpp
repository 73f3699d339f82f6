// What a host forgot to pass: the functions behind the C headers look before they read, and answer with a sentence.
#pragma once

#include "base/result.hpp"
#include "modules/sdk/status.h"
#include "modules/sdk/value.h"

namespace baton::modules {

// The elements, `count` of them; null is allowed only for none.
inline bool lacks(const void* elements, uint64_t count) { return !elements && count != 0; }
inline bool lacks(baton_string text) { return lacks(text.data, text.size); }

[[gnu::cold]] inline Status is_null(std::string_view what) {
  return failure(StatusCode::kInvalidArgument, "The ", what, " is null.");
}
[[gnu::cold]] inline baton_status* missing(std::string_view what) {
  return reinterpret_cast<baton_status*>(is_null(what).release());
}
// The place that a result is written to is empty from here on.
template <typename T>
baton_status* missing_room(T** out) {
  if (!out) return missing("place for the result");
  *out = nullptr;
  return nullptr;
}

}  // namespace baton::modules
