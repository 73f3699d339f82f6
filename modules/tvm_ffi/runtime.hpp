// libtvm_ffi, opened when it is needed: the copy that the process has already (Python's), else the one that a parameter
// or $BATON_TVM_FFI_LIBRARY names, that of the Python environment, or the loader's.
// Threads: immutable.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "modules/tvm_ffi/c_abi.hpp"

namespace baton::modules::tvm_ffi {

class Runtime {
 public:
  // `path` may be empty. The library is never closed: objects of its types may outlive everything else.
  static Result<std::shared_ptr<const Runtime>> open(const std::string& path);

#define FUNCTION(member, symbol, result, ...) result (*member)(__VA_ARGS__) = nullptr;
#include "modules/tvm_ffi/symbols.inc"
#undef FUNCTION

  // The failure that a call left behind, with its kind, its message and its trace. `code`: what the call returned.
  Status take_error(int code) const;
  // Raises a failure for the caller of a function of ours; returns what the function is to return.
  int raise(const Status& failed) const;

  void drop(Any& value) const {
    if (value.type_index >= kObjectBegin) release(value.object);
    value = Any();
  }
};

// The text of what take_error() found, for tests: kind, message and trace to one failure and back.
Status failure_of(std::string_view kind, std::string_view message, std::string_view backtrace);

}  // namespace baton::modules::tvm_ffi
