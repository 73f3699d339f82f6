// A program inside of a library of TVM-FFI, as baton_tvm_ffi_program() of CMake makes it: each export is a function of
// the library. It is loaded at the first call, and stays.
// Threads: functions may be called from any thread.
#pragma once

#include <atomic>
#include <mutex>
#include <span>

#include "modules/tvm_ffi/program.hpp"

namespace baton::modules::tvm_ffi {

struct EmbeddedFunction {
  const char* name;
  std::atomic<AnyObject*> object{nullptr};  // The function of the loaded program; never let go.
};

class EmbeddedProgram {
 public:
  // The bytes of a .bvm file, aligned to 64; `device` may be empty: that of the tensors.
  EmbeddedProgram(std::span<const std::byte> bytes, const char* device) : bytes_(bytes), device_(device) {}
  EmbeddedProgram(const EmbeddedProgram&) = delete;
  EmbeddedProgram& operator=(const EmbeddedProgram&) = delete;

  // What a function of the library does: 0, or what failed was raised.
  int call(EmbeddedFunction& function, const Any* arguments, int32_t count, Any* result);

 private:
  int find(EmbeddedFunction& function);
  Result<AnyObject*> load(std::string_view name);

  const std::span<const std::byte> bytes_;
  const char* const device_;
  // Never deleted: functions may be called until the process ends.
  struct Loaded {
    std::shared_ptr<const Runtime> runtime;
    Ref<Program> program;
  };
  std::mutex mutex_;
  std::atomic<Loaded*> loaded_{nullptr};
};

}  // namespace baton::modules::tvm_ffi

// A function of the library: its symbol, and the export's name as a string, so that no macro of that name matters.
#define BATON_TVM_FFI_FUNCTION(program, symbol, name)                                                                 \
  extern "C" __attribute__((visibility("default"))) int symbol(void*, const baton::modules::tvm_ffi::Any* arguments,  \
                                                               int32_t count, baton::modules::tvm_ffi::Any* result) { \
    static baton::modules::tvm_ffi::EmbeddedFunction function{name};                                                  \
    return program.call(function, arguments, count, result);                                                          \
  }
