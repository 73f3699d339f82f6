// .bvmasm text → the bytes of a .bvm file. The language is described in bytecode/README.md.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace baton::bytecode {

struct AssemblerOptions {
  std::string_view file_name = "<input>";  // for messages and, with `record_locations`, for the debug table
  bool record_locations = false;           // the text's own lines become source locations (baton-as -g)
  bool strip_debug = false;
};

// Errors read "file:line:column: sentence", one a line, all that could be found.
Result<std::vector<std::byte>> assemble(std::string_view text, const AssemblerOptions& options = {});

}  // namespace baton::bytecode
