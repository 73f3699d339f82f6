// What a device answers to Device::query: a row for each fact.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace baton::hal {

struct DeviceAnswer {
  std::string_view category;
  std::string_view key;
  int64_t value;
};

inline std::optional<int64_t> find_answer(std::initializer_list<DeviceAnswer> answers, std::string_view category,
                                          std::string_view key) {
  for (const DeviceAnswer& answer : answers) {
    if (answer.category == category && answer.key == key) return answer.value;
  }
  return std::nullopt;
}

}  // namespace baton::hal
