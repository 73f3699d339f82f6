// A program whose functions are functions of TVM-FFI: called with tensors of any framework where they lie, on the stream
// that the caller works on, without copies.
//
// The device is that of the first tensor of a call ("local-task" for the host's), unless one was said; a program has a
// state for each device that it was called on.
// Threads: functions may be called from any thread; calls on one device take turns.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/ref.hpp"
#include "modules/tvm_ffi/runtime.hpp"
#include "vm/module.hpp"

namespace baton::modules::tvm_ffi {

struct ProgramOptions {
  std::vector<Ref<const vm::Module>> modules;  // The last one's exports are the functions.
  std::string device;                          // "cuda://0"; empty: that of the tensors.
};

class Program : public RefCounted<Program> {
 public:
  virtual ~Program() = default;
  static Result<Ref<Program>> make(std::shared_ptr<const Runtime> runtime, ProgramOptions options);

  virtual std::string_view name() const = 0;  // of the last module
  virtual std::vector<std::string> names() const = 0;
  // A function object, owned by the caller, which keeps the program. NOT_FOUND tells the nearest names.
  virtual Result<AnyObject*> function(std::string_view name) = 0;
};

}  // namespace baton::modules::tvm_ffi
