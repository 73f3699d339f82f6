// Vectors and texts of a flatbuffer, which a writer may have left out. Private to this room.
#pragma once

#include <cstdint>
#include <string_view>

#include "flatbuffers/flatbuffers.h"

namespace baton::bytecode {

template <typename T>
uint32_t count_of(const flatbuffers::Vector<T>* rows) {
  return rows ? rows->size() : 0;
}

inline std::string_view view_of(const flatbuffers::String* text) {
  return text ? std::string_view(text->c_str(), text->size()) : std::string_view();
}

}  // namespace baton::bytecode
