// Dynamic functions: device code that the host registered, linked with a program's when that is loaded.
//
// A program's PTX says what it lacks (.extern .func) and what it has of its own unless somebody brings better
// (.weak .func: a function of the source with a fallback). CUDA's linker in the driver joins both, and where it cannot, the
// one that was registered for that; nothing else of the program changes. Code that asks for nothing is never linked.
// Threads: immutable.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hal/drivers/cuda/driver.hpp"
#include "hal/drivers/cuda/primary_context.hpp"

namespace baton::hal::drivers::cuda {

struct WantedFunction {
  std::string name;
  bool has_fallback = false;

  bool operator==(const WantedFunction&) const = default;
};

// In the order of the text, each once; what CUDA itself brings (printf's, malloc) is left out. None of machine code.
std::vector<WantedFunction> wanted_functions(std::span<const std::byte> code);

// The code with the functions in it as a cubin for the context's device; empty when there is nothing to link, and the
// code is loaded as it is. The context is current.
Result<std::vector<std::byte>> link_functions(PrimaryContext& context, std::span<const std::byte> code,
                                              const RegisteredFunctions& functions);

}  // namespace baton::hal::drivers::cuda
