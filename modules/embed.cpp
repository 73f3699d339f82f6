// Baton for C programs: modules/sdk/embed.h over the VM. Every function here is a translation; what it does stands in
// vm/.
#include "modules/sdk/embed.h"

#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "modules/host_table.hpp"
#include "modules/native_module.hpp"
#include "modules/plugin_loader.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

using baton::Ref;
using baton::Result;
using baton::Status;
using baton::StatusCode;
namespace vm = baton::vm;

struct baton_function {
  vm::ExportedFunction function;
  std::string name;
  std::string signature;  // terminated, for C
};

struct baton_context {
  Ref<vm::Context> context;
  std::mutex mutex;                      // guards `functions`; found functions never move
  std::deque<baton_function> functions;  // what was asked for so far
};

struct baton_invocation {
  explicit baton_invocation(Ref<vm::Context> context) : invocation(std::move(context)) {}
  vm::Invocation invocation;
};

namespace {

baton_status* to_door(Status status) { return reinterpret_cast<baton_status*>(status.release()); }

// A baton_module is a vm::Module that the caller holds a reference to.
const vm::Module* from_door(const baton_module* module) { return reinterpret_cast<const vm::Module*>(module); }

baton_status* hand_out(Result<Ref<const vm::Module>> module, baton_module** out_module) {
  *out_module = nullptr;
  if (!module) return to_door(std::move(module).error());
  *out_module = const_cast<baton_module*>(reinterpret_cast<const baton_module*>((*module).detach()));
  return nullptr;
}

Result<Ref<const vm::Module>> as_module(Result<Ref<vm::BytecodeModule>> module) {
  if (!module) return std::move(module).error();
  return Ref<const vm::Module>(*std::move(module));
}

Result<Ref<vm::Context>> make_context(std::span<baton_module* const> modules, const baton::Allocator& allocator) {
  std::vector<Ref<const vm::Module>> linked;
  linked.reserve(modules.size());
  for (const baton_module* module : modules) {
    if (!module) return failure(StatusCode::kInvalidArgument, "Module ", linked.size(), " of the context is null.");
    linked.emplace_back(from_door(module));
  }
  BATON_TRY_ASSIGN(Ref<vm::Program> program, vm::Program::link(linked));
  return vm::Context::make(std::move(program), allocator);
}

Result<const baton_function*> find(baton_context& context, std::string_view name) {
  const std::lock_guard lock(context.mutex);
  for (const baton_function& known : context.functions) {
    if (known.name == name) return &known;
  }
  BATON_TRY_ASSIGN(vm::ExportedFunction function, context.context->find_function(name));
  context.functions.push_back({function, std::string(name), std::string(function.signature)});
  return &context.functions.back();
}

}  // namespace

extern "C" {

uint32_t baton_abi_version(void) { return BATON_ABI_VERSION; }
const char* baton_version(void) { return BATON_VERSION; }

baton_status_code baton_status_get_code(const baton_status* status) {
  return baton::modules::host_table().status_code(status);
}
const char* baton_status_get_message(const baton_status* status) {
  return baton::modules::host_table().status_message(status).data;  // a std::string's: terminated
}
void baton_status_free(baton_status* status) { baton::modules::host_table().status_free(status); }

baton_status* baton_module_load_file(const char* path, baton_module** out_module) {
  return hand_out(as_module(vm::BytecodeModule::load_file(path)), out_module);
}
baton_status* baton_module_load_memory(const void* data, uint64_t size, baton_module** out_module) {
  const std::span bytes(static_cast<const std::byte*>(data), static_cast<size_t>(size));
  return hand_out(as_module(vm::BytecodeModule::load(baton::bytecode::ModuleBytes::copy(bytes))), out_module);
}
baton_status* baton_module_from_descriptor(const baton_module_descriptor* descriptor, baton_module** out_module) {
  return hand_out(baton::modules::NativeModule::make(descriptor), out_module);
}
baton_status* baton_module_load_plugin(const char* path_entry_parameters, baton_module** out_module) {
  return hand_out(baton::modules::load_plugin(path_entry_parameters), out_module);
}
void baton_module_release(baton_module* module) {
  if (module) from_door(module)->release();
}
const baton_host* baton_host_table(void) { return &baton::modules::host_table(); }

baton_status* baton_context_create(baton_module* const* modules, uint64_t module_count,
                                   const baton_allocator* allocator, baton_context** out_context) {
  *out_context = nullptr;
  auto made =
      make_context({modules, static_cast<size_t>(module_count)},
                   allocator ? *reinterpret_cast<const baton::Allocator*>(allocator) : baton::system_allocator());
  if (!made) return to_door(std::move(made).error());
  auto* context = new baton_context;
  context->context = *std::move(made);
  *out_context = context;
  return nullptr;
}
void baton_context_release(baton_context* context) { delete context; }

baton_status* baton_context_find(baton_context* context, const char* name, const baton_function** out_function) {
  *out_function = nullptr;
  auto function = find(*context, name);
  if (!function) return to_door(std::move(function).error());
  *out_function = *function;
  return nullptr;
}
const char* baton_function_signature(const baton_function* function) { return function->signature.c_str(); }

baton_status* baton_invocation_create(baton_context* context, baton_invocation** out_invocation) {
  *out_invocation = new baton_invocation(context->context);
  return nullptr;
}
void baton_invocation_release(baton_invocation* invocation) { delete invocation; }

baton_status* baton_invocation_invoke(baton_invocation* invocation, const baton_function* function,
                                      const baton_value* arguments, uint64_t argument_count, baton_value* results,
                                      uint64_t result_count) {
  return to_door(invocation->invocation.invoke(
      function->function, {reinterpret_cast<const vm::Value*>(arguments), static_cast<size_t>(argument_count)},
      {reinterpret_cast<vm::Value*>(results), static_cast<size_t>(result_count)}));
}
void baton_invocation_cancel(baton_invocation* invocation) { invocation->invocation.cancel(); }

}  // extern "C"
