// What Python gave as an object of ours, or a TypeError that says what is wanted.
#pragma once

#include <string>
#include <string_view>

#include "base/text.hpp"
#include "python/extension/python_lock.hpp"

namespace baton::python {

// "an int", "a str", "None": what a value is, for messages.
inline std::string described(nb::handle value) {
  if (value.is_none()) return "None";
  const std::string name = nb::cast<std::string>(nb::str(nb::handle(value.type()).attr("__name__")));
  const bool sounds_open = std::string_view("aeioAEIO").find(name[0]) != std::string_view::npos || name == "ndarray";
  return text(sounds_open ? "an " : "a ", name);
}

[[noreturn]] inline void refuse_type(nb::handle value, std::string_view wanted) {
  throw nb::type_error(text(wanted, " is wanted, not ", described(value)).c_str());
}

template <typename T>
const T& object_of(nb::handle value, std::string_view wanted) {
  if (!nb::isinstance<T>(value)) refuse_type(value, wanted);
  return nb::cast<const T&>(value);
}

inline std::string string_of(nb::handle value, std::string_view wanted) {
  if (!PyUnicode_Check(value.ptr())) refuse_type(value, wanted);
  return nb::cast<std::string>(value);
}

}  // namespace baton::python
