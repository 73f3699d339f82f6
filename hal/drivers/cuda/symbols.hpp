// Symbols: the entries of libcuda, opened at run time; nothing of Baton links to it.
//
// A plain struct of function pointers, so that a test can fill it with recorders (tests/support/fake_cuda.hpp).
// Threads: immutable.
#pragma once

#include <cuda.h>

#include <memory>

#include "base/result.hpp"

namespace baton::hal::drivers::cuda {

struct Symbols {
#define SYMBOL(name) decltype(&::name) name;
#define SYMBOL_AS(member, exact, ...) \
  using member##_type = __VA_ARGS__;  \
  member##_type member;
#include "hal/drivers/cuda/symbols.inc"
#undef SYMBOL_AS
#undef SYMBOL
};

// The oldest driver that has everything (cuKernelGetParamInfo came with 12.4), as cuDriverGetVersion tells it.
inline constexpr int kDriverVersionMin = 12040;

// Opens libcuda and starts it. UNAVAILABLE, with the reason, where there is none, it is too old or it does not start.
Result<std::shared_ptr<const Symbols>> load_symbols();

// Starts `symbols` and checks its age; what load_symbols does once it has them.
Status start(const Symbols& symbols);

// "12.4" for 12040.
std::string version_text(int version);

}  // namespace baton::hal::drivers::cuda
