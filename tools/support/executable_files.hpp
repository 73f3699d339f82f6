// Kernels in files that a command line gives to programs by name: --executable=name=file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "hal/executable_registry.hpp"

namespace baton::tools {

// What a file of kernels is, by its bytes; a library for the system's loader has a path that ends with ".so".
// INVALID_ARGUMENT when it is none.
Result<std::string> executable_format(std::string_view path, std::span<const std::byte> bytes);

// Reads the files of "name=file" texts. The registry keeps their bytes.
Result<std::shared_ptr<const hal::ExecutableRegistry>> register_executables(std::span<const std::string> given);

}  // namespace baton::tools
