// Parts of a module for people to read: what it weighs, what it asks for, what it offers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bytecode/module_view.hpp"

namespace baton::tools::dump {

std::vector<std::string> section_names();

// A heading and a line for each thing. `name` is one of section_names().
std::string describe_section(const bytecode::ModuleView& module, std::string_view name);

// Where the bytes of the file go. They add up to the file.
struct Sizes {
  uint64_t file;
  uint64_t code;
  uint64_t rodata;
  uint64_t device_code;     // of the rodata
  uint64_t rodata_padding;  // between segments, to multiples of 64
  uint64_t tables;          // all else: names, signatures, imports, exports, debug table
};
Sizes sizes_of(const bytecode::ModuleView& module);

}  // namespace baton::tools::dump
