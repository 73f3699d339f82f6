#include "modules/tvm_ffi/embedded_program.hpp"

#include "vm/bytecode_module.hpp"

namespace baton::modules::tvm_ffi {

int EmbeddedProgram::call(EmbeddedFunction& function, const Any* arguments, int32_t count, Any* result) {
  AnyObject* object = function.object.load(std::memory_order_acquire);
  if (!object) [[unlikely]] {
    if (const int failed = find(function); failed != 0) return failed;
    object = function.object.load(std::memory_order_acquire);
  }
  return loaded_.load(std::memory_order_relaxed)->runtime->function_call(object, arguments, count, result);
}

// What fails now is tried again at the next call.
int EmbeddedProgram::find(EmbeddedFunction& function) {
  const std::lock_guard lock(mutex_);
  if (function.object.load(std::memory_order_relaxed)) return 0;
  if (!loaded_.load(std::memory_order_relaxed)) {
    auto runtime = Runtime::open({});
    if (!runtime) return kRaised;  // The caller's struct has a version that this library does not know.
    loaded_.store(new Loaded{*std::move(runtime), nullptr}, std::memory_order_release);
  }
  const Loaded& loaded = *loaded_.load(std::memory_order_relaxed);
  auto object = load(function.name);
  if (!object) return loaded.runtime->raise(std::move(object).error());
  function.object.store(*object, std::memory_order_release);
  return 0;
}

Result<AnyObject*> EmbeddedProgram::load(std::string_view name) {
  Loaded& loaded = *loaded_.load(std::memory_order_relaxed);
  if (!loaded.program) {
    BATON_TRY_ASSIGN(auto bytes, bytecode::ModuleBytes::borrow(bytes_));
    BATON_TRY_ASSIGN(auto module, vm::BytecodeModule::load(std::move(bytes)));
    BATON_TRY_ASSIGN(
        loaded.program,
        Program::make(loaded.runtime, {.modules = {Ref<const vm::Module>(std::move(module))}, .device = device_}));
  }
  return loaded.program->function(name);
}

}  // namespace baton::modules::tvm_ffi
