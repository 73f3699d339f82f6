// An object type of a module's own, for tests: counts how many live.
#pragma once

#include <string>

#include "modules/sdk/object.hpp"

namespace baton::sdk {

class StringObject final : public Object<StringObject> {
 public:
  static constexpr char kTypeName[] = "custom.string";
  explicit StringObject(std::string_view from) : text(from) { ++alive; }
  ~StringObject() { --alive; }

  std::string text;
  static inline int alive = 0;
};

class OtherObject final : public Object<OtherObject> {
 public:
  static constexpr char kTypeName[] = "custom.other";
};

}  // namespace baton::sdk
