// Baton for C programs: modules/sdk/embed.h over the VM. Every function here is a translation; what it does stands in
// vm/.
#include "modules/sdk/embed.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "modules/door_checks.hpp"
#include "modules/embed_objects.hpp"
#include "modules/host_table.hpp"
#include "modules/native_module.hpp"
#include "modules/plugin_loader.hpp"
#include "vm/typed_function.hpp"

using baton::Ref;
using baton::Result;
using baton::Status;
using baton::StatusCode;
using baton::modules::lacks;
using baton::modules::missing;
using baton::modules::missing_room;
namespace vm = baton::vm;

struct baton_cancellation {
  std::atomic<bool> cancelled{false};
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

Result<Ref<vm::Context>> make_context(std::span<baton_module* const> modules, const baton::Allocator& allocator,
                                      const vm::InitializerLimits& limits) {
  std::vector<Ref<const vm::Module>> linked;
  linked.reserve(modules.size());
  for (const baton_module* module : modules) {
    if (!module) return failure(StatusCode::kInvalidArgument, "Module ", linked.size(), " of the context is null.");
    linked.emplace_back(from_door(module));
  }
  BATON_TRY_ASSIGN(Ref<vm::Program> program, vm::Program::link(linked));
  return vm::Context::make(std::move(program), allocator, limits);
}

// A point of the clock, 0 for none; a timeout that is over before it begins is a point that has passed.
int64_t deadline_after(int64_t timeout_ns) {
  if (timeout_ns == 0) return 0;
  const int64_t now = vm::monotonic_clock_ns();
  return timeout_ns > INT64_MAX - now ? INT64_MAX : std::max<int64_t>(now + std::max<int64_t>(timeout_ns, 0), 1);
}

Result<vm::InitializerLimits> read_limits(const baton_initializer_limits* limits) {
  if (!limits) return vm::InitializerLimits{};
  if (limits->struct_size != sizeof(baton_initializer_limits) || limits->reserved != 0) {
    return failure(StatusCode::kInvalidArgument, "The limits of initializers have ", limits->struct_size, " bytes and ",
                   limits->reserved, " in their reserved field; this version knows ", sizeof(baton_initializer_limits),
                   " and 0.");
  }
  return vm::InitializerLimits{.instructions = limits->instructions,
                               .deadline_ns = deadline_after(limits->timeout_ns),
                               .cancelled = limits->cancellation ? &limits->cancellation->cancelled : nullptr};
}

Result<const baton_function*> find(baton_context& context, std::string_view name) {
  const std::lock_guard lock(context.mutex);
  for (const baton_function& known : context.functions) {
    if (known.name == name) return &known;
  }
  BATON_TRY_ASSIGN(vm::ExportedFunction function, context.context->find_function(name));
  context.functions.push_back(
      {function, std::string(name), std::string(function.signature), &context.context->program()});
  return &context.functions.back();
}

// What a host forgot to pass, or took from somewhere else.
[[gnu::cold]] baton_status* refuse_call(const baton_invocation* invocation, const baton_function* function) {
  if (!invocation) return missing("invocation");
  if (!function) return missing("function");
  return to_door(failure(StatusCode::kInvalidArgument, "Function '", function->name,
                         "' was found in another context than the invocation's."));
}
bool fits(const baton_invocation* invocation, const baton_function* function) {
  return invocation && function && invocation->program == function->program;
}

static_assert(sizeof(baton_typed_value) == sizeof(vm::TypedValue) &&
              offsetof(baton_typed_value, letter) == offsetof(vm::TypedValue, letter));

// Few results need no memory of their own.
class Results {
 public:
  explicit Results(size_t count) : count_(count), more_(count > std::size(few_) ? count : 0) {}
  std::span<vm::Value> all() { return {more_.empty() ? few_ : more_.data(), count_}; }

 private:
  size_t count_;
  vm::Value few_[16];
  std::vector<vm::Value> more_;
};

Status call_typed(baton_invocation& invocation, const vm::ExportedFunction& function,
                  std::span<const vm::TypedValue> arguments, std::span<baton_typed_value> results) {
  const size_t count = size_t{function.shape.result_values} + function.shape.result_refs;
  if (results.size() != count) {
    return failure(StatusCode::kInvalidArgument, "function '", function.name, "' has ", count,
                   " results, but room is given for ", results.size());
  }
  Results slots(count);
  BATON_TRY(invocation.invocation.invoke(function, arguments, slots.all()));
  baton::bytecode::SignatureCursor cursor(baton::bytecode::results_of(function.signature));
  for (size_t i = 0; cursor.next(); ++i) {
    results[i] = baton_typed_value_of({.bits = slots.all()[i].bits}, baton::bytecode::value_type_letter(cursor.type()));
  }
  return {};
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
  if (baton_status* status = missing_room(out_module)) return status;
  if (!path) return missing("path of a module");
  return hand_out(as_module(vm::BytecodeModule::load_file(path)), out_module);
}
baton_status* baton_module_load_memory(const void* data, uint64_t size, baton_module** out_module) {
  if (baton_status* status = missing_room(out_module)) return status;
  if (lacks(data, size)) return missing("memory of a module");
  if (size > PTRDIFF_MAX) {
    return to_door(failure(StatusCode::kInvalidArgument, "A module of ", size, " bytes is in no memory."));
  }
  const std::span bytes(static_cast<const std::byte*>(data), static_cast<size_t>(size));
  return hand_out(as_module(vm::BytecodeModule::load(baton::bytecode::ModuleBytes::copy(bytes))), out_module);
}
baton_status* baton_module_load_memory_with_limits(const void* data, uint64_t size,
                                                   const baton_initializer_limits* limits, baton_module** out_module) {
  if (baton_status* status = missing_room(out_module)) return status;
  const auto known = read_limits(limits);
  if (!known) return to_door(known.error().clone());
  baton::WorkLimits work;
  work.deadline_ns = (*known).deadline_ns;
  work.cancelled = (*known).cancelled;
  const baton::WorkLimits::Scope scope(&work);
  return baton_module_load_memory(data, size, out_module);
}
baton_status* baton_module_from_descriptor(const baton_module_descriptor* descriptor, baton_module** out_module) {
  if (baton_status* status = missing_room(out_module)) return status;
  if (!descriptor) return missing("descriptor of a module");
  return hand_out(baton::modules::NativeModule::make(descriptor), out_module);
}
baton_status* baton_module_load_plugin(const char* path_entry_parameters, baton_module** out_module) {
  if (baton_status* status = missing_room(out_module)) return status;
  if (!path_entry_parameters) return missing("path of a plugin");
  return hand_out(baton::modules::load_plugin(path_entry_parameters), out_module);
}
void baton_module_release(baton_module* module) {
  if (module) from_door(module)->release();
}
const baton_host* baton_host_table(void) { return &baton::modules::host_table(); }

baton_status* baton_context_create(baton_module* const* modules, uint64_t module_count,
                                   const baton_allocator* allocator, baton_context** out_context) {
  return baton_context_create_with_limits(modules, module_count, allocator, nullptr, out_context);
}
baton_status* baton_context_create_with_limits(baton_module* const* modules, uint64_t module_count,
                                               const baton_allocator* allocator, const baton_initializer_limits* limits,
                                               baton_context** out_context) {
  if (baton_status* status = missing_room(out_context)) return status;
  if (lacks(modules, module_count)) return missing("array of modules");
  auto known = read_limits(limits);
  if (!known) return to_door(std::move(known).error());
  auto made = make_context(
      {modules, static_cast<size_t>(module_count)},
      allocator ? *reinterpret_cast<const baton::Allocator*>(allocator) : baton::system_allocator(), *known);
  if (!made) return to_door(std::move(made).error());
  auto* context = new baton_context;
  context->context = *std::move(made);
  *out_context = context;
  return nullptr;
}
void baton_context_release(baton_context* context) { delete context; }

baton_status* baton_cancellation_create(baton_cancellation** out_cancellation) {
  if (baton_status* status = missing_room(out_cancellation)) return status;
  *out_cancellation = new baton_cancellation;
  return nullptr;
}
void baton_cancellation_cancel(baton_cancellation* cancellation) {
  if (cancellation) cancellation->cancelled.store(true, std::memory_order_relaxed);
}
void baton_cancellation_release(baton_cancellation* cancellation) { delete cancellation; }

baton_status* baton_context_find(baton_context* context, const char* name, const baton_function** out_function) {
  if (baton_status* status = missing_room(out_function)) return status;
  if (!context) return missing("context");
  if (!name) return missing("name of a function");
  auto function = find(*context, name);
  if (!function) return to_door(std::move(function).error());
  *out_function = *function;
  return nullptr;
}
baton_status* baton_context_find_typed(baton_context* context, const char* name, const char* signature,
                                       const baton_function** out_function) {
  if (baton_status* status = missing_room(out_function)) return status;
  if (!context) return missing("context");
  if (!name || !signature) return missing(name ? "signature of a function" : "name of a function");
  auto function = find(*context, name);
  if (!function) return to_door(std::move(function).error());
  if (Status status = vm::check_signature((*function)->function, signature); !status.ok())
    return to_door(std::move(status));
  *out_function = *function;
  return nullptr;
}
const char* baton_function_signature(const baton_function* function) {
  return function ? function->signature.c_str() : "";
}

baton_status* baton_invocation_create(baton_context* context, baton_invocation** out_invocation) {
  if (baton_status* status = missing_room(out_invocation)) return status;
  if (!context) return missing("context");
  *out_invocation = new baton_invocation(context->context);
  return nullptr;
}
void baton_invocation_release(baton_invocation* invocation) { delete invocation; }

baton_status* baton_invocation_invoke(baton_invocation* invocation, const baton_function* function,
                                      const baton_value* arguments, uint64_t argument_count, baton_value* results,
                                      uint64_t result_count) {
  if (!fits(invocation, function)) [[unlikely]]
    return refuse_call(invocation, function);
  if (lacks(arguments, argument_count) || lacks(results, result_count)) [[unlikely]]
    return missing(lacks(arguments, argument_count) ? "array of arguments" : "array of results");
  Status status = invocation->invocation.invoke_slots(
      function->function, {reinterpret_cast<const vm::Value*>(arguments), static_cast<size_t>(argument_count)},
      {reinterpret_cast<vm::Value*>(results), static_cast<size_t>(result_count)});
  if (invocation->tracer) [[unlikely]]
    invocation->tracer->finish();
  return to_door(std::move(status));
}
baton_status* baton_invocation_call(baton_invocation* invocation, const baton_function* function,
                                    const baton_typed_value* arguments, uint64_t argument_count,
                                    baton_typed_value* results, uint64_t result_count) {
  if (!fits(invocation, function)) [[unlikely]]
    return refuse_call(invocation, function);
  if (lacks(arguments, argument_count) || lacks(results, result_count)) [[unlikely]]
    return missing(lacks(arguments, argument_count) ? "array of arguments" : "array of results");
  Status status = call_typed(*invocation, function->function,
                             {reinterpret_cast<const vm::TypedValue*>(arguments), static_cast<size_t>(argument_count)},
                             {results, static_cast<size_t>(result_count)});
  if (invocation->tracer) [[unlikely]]
    invocation->tracer->finish();
  return to_door(std::move(status));
}
void baton_invocation_cancel(baton_invocation* invocation) {
  if (invocation) invocation->invocation.cancel();
}
void baton_invocation_clear_cancel(baton_invocation* invocation) {
  if (invocation) invocation->invocation.clear_cancel();
}
void baton_invocation_set_timeout(baton_invocation* invocation, int64_t timeout_ns) {
  if (invocation) invocation->invocation.set_deadline(deadline_after(timeout_ns));
}
void baton_invocation_set_instruction_budget(baton_invocation* invocation, uint64_t instructions) {
  if (invocation) invocation->invocation.set_instruction_budget(instructions);
}

}  // extern "C"
