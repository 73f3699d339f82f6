// A vendor's linker for device code, where the host of the compiler has one: for objects that the compiler can't read.
// An architecture's name says whose it is; a linker refuses names that it doesn't know.
//
// Free of MLIR.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace baton::compiler_lite {

struct DeviceCode {
  std::string_view name;  // For messages.
  std::string_view bytes;
};

// One binary for `arch` ("sm_80") of all of `code`; empty with a sentence in `problem` when there is none.
using DeviceLinker = std::vector<std::byte> (*)(std::string_view arch, std::span<const DeviceCode> code,
                                                std::string& problem);

}  // namespace baton::compiler_lite
