// Which functions a shared library exports for TVM-FFI, read from its file: nothing of it runs.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace baton::modules::tvm_ffi {

// The names behind "__tvm_ffi_" of the symbols that the library defines, sorted; empty where it has none, or is no ELF
// file of this machine's kind.
std::vector<std::string> exported_functions(const std::string& path);

}  // namespace baton::modules::tvm_ffi
