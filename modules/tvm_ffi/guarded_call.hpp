// guarded_call: a call of a library's function, whatever it throws. For files that are compiled with exceptions, of which the
// rooms have none: what is thrown ends there, and costs a call that throws nothing no instruction.
#pragma once

#include "modules/tvm_ffi/runtime.hpp"

namespace baton::modules::tvm_ffi {

// Raises what is being handled, which TVM-FFI's own handlers let past: they know only std::exception. Returns the code of a
// function that raised.
[[gnu::cold]] int raise_thrown(const Runtime& runtime);

inline int guarded_call(const Runtime& runtime, SafeCall function, const Any* arguments, int32_t count, Any* result) {
  try {
    return function(nullptr, arguments, count, result);
  } catch (...) {
    return raise_thrown(runtime);
  }
}

}  // namespace baton::modules::tvm_ffi
