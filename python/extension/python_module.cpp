#include "python/extension/python_module.hpp"

#include <deque>

#include "modules/native_module.hpp"
#include "python/extension/command_buffer.hpp"
#include "python/extension/interrupts.hpp"
#include "vm/bytecode_module.hpp"

namespace baton::python {
namespace {

constexpr std::string_view kCommandBuffer = "hal.command_buffer";

struct PythonModule;

struct PythonFunction {
  const PythonModule* module;
  std::string name;
  std::string signature;
  PyObject* callable;  // Borrowed: the program's list of callables keeps it.
  std::vector<Parameter> arguments;
  std::vector<Parameter> results;
};

struct PythonModule {
  std::string name;
  std::deque<PythonFunction> functions;  // Never move: exports point to them.
  std::vector<baton_export> exports;
  PyObject* prepare = nullptr;  // Borrowed.
  std::vector<Ref<OpenDevice>> devices;
  baton_module_descriptor descriptor{};
};

// ---- Calls ----------------------------------------------------------------------------------------------------------

nb::object take_argument(const Parameter& parameter, const baton_value*& values, baton_object**& refs,
                         const Surroundings& around) {
  if (parameter.kind <= Kind::kF64) return from_value(vm::Value::from_bits((values++)->bits), parameter, around);
  auto* object = reinterpret_cast<vm::Object*>(*refs++);
  vm::retain_object(object);  // The slot's stays where it is.
  return from_value(vm::Value::of(object), parameter, around);
}

nb::object call_with(PyObject* callable, const nb::list& arguments) {
  nb::object tuple = nb::steal(PyList_AsTuple(arguments.ptr()));
  nb::object result = nb::steal(PyObject_CallObject(callable, tuple.ptr()));
  if (!result.is_valid()) throw nb::python_error();
  forget_handled_interrupt();
  return result;
}

nb::object item_of(const nb::object& result, size_t index, size_t count) {
  if (count == 1) return result;
  nb::object item = nb::steal(PySequence_GetItem(result.ptr(), static_cast<Py_ssize_t>(index)));
  if (!item.is_valid()) throw nb::python_error();
  return item;
}

void check_result_count(const PythonFunction& function, const nb::object& result) {
  const size_t count = function.results.size();
  if (count == 0 && !result.is_none()) throw nb::type_error("it has no results, and returned something else than None");
  if (count < 2) return;
  const Py_ssize_t given = PyTuple_Check(result.ptr()) ? PyTuple_Size(result.ptr()) : -1;
  if (given == static_cast<Py_ssize_t>(count)) return;
  throw nb::type_error(text("it has ", count, " results, and returned no tuple of that many").c_str());
}

// Results are written only when all of them were converted.
void store_results(const PythonFunction& function, const nb::object& result, Surroundings& around, baton_call* call) {
  check_result_count(function, result);
  const size_t count = function.results.size();
  std::vector<vm::Value> values(count);
  std::vector<OwnedObject> owned(count);
  for (size_t i = 0; i < count; ++i) {
    const nb::object item = item_of(result, i, count);
    if (item.is_none() && function.results[i].kind == Kind::kTensor) {
      throw nb::type_error(text("it returned None as result ", i + 1, ", where a tensor is wanted").c_str());
    }
    to_value(item.ptr(), function.results[i], around, values[i], owned[i]);
  }
  baton_value* next_value = call->values;
  uint32_t next_ref = 0;
  for (size_t i = 0; i < count; ++i) {
    if (function.results[i].kind <= Kind::kF64) {
      (next_value++)->bits = values[i].bits;
    } else {
      baton_call_set_ref(call, next_ref++, owned[i].detach());
    }
  }
}

void call_function(const PythonFunction& function, baton_call* call) {
  Surroundings around{function.module->devices};
  const baton_value* values = call->values;
  baton_object** refs = call->refs;
  nb::list arguments;
  for (const Parameter& parameter : function.arguments)
    arguments.append(take_argument(parameter, values, refs, around));
  store_results(function, call_with(function.callable, arguments), around, call);
}

// Each tensor is slot, buffer, offset, length: modules/sdk/recording.h.
bool is_binding(std::span<const Parameter> rest) {
  return rest.size() >= 4 && rest[0].kind == Kind::kI64 && rest[1].type_name == "hal.buffer" &&
         rest[2].kind == Kind::kI64 && rest[3].kind == Kind::kI64;
}

void call_command(const PythonFunction& function, baton_call* call) {
  Surroundings around{function.module->devices};
  const OpenCommandBuffer commands(call->refs[0], around.devices);
  const baton_value* values = call->values;
  baton_object** refs = call->refs + 1;
  nb::list arguments;
  arguments.append(commands.object());
  std::span<const Parameter> rest(function.arguments);
  for (rest = rest.subspan(1); !rest.empty();) {
    if (is_binding(rest)) {
      arguments.append(make_binding(values[0].i64, *refs++, values[1].i64, values[2].i64));
      values += 3;
      rest = rest.subspan(4);
    } else {
      arguments.append(take_argument(rest[0], values, refs, around));
      rest = rest.subspan(1);
    }
  }
  if (!call_with(function.callable, arguments).is_none()) {
    throw nb::type_error("a command has no results, and this one returned something else than None");
  }
}

std::string place_of(const PythonFunction& function) {
  return text("in Python function '", function.module->name, ".", function.name, "'");
}

baton_status* function_body(baton_call* call) {
  const auto& function = *static_cast<const PythonFunction*>(call->data);
  return guarded(place_of(function), [&] { call_function(function, call); });
}

baton_status* command_body(baton_call* call) {
  const auto& function = *static_cast<const PythonFunction*>(call->data);
  return guarded(place_of(function), [&] { call_command(function, call); });
}

baton_status* prepare(void* state, baton_device* device) {
  const auto& module = *static_cast<const PythonModule*>(state);
  return guarded(text("in prepare of Python module '", module.name, "'"), [&] {
    nb::list arguments;
    arguments.append(device_object(device, module.devices));
    call_with(module.prepare, arguments);
  });
}

// ---- Making one -----------------------------------------------------------------------------------------------------

std::string imported_signature(std::string_view name, std::span<const Ref<const vm::Module>> others) {
  for (const auto& other : others) {
    const vm::BytecodeModule* module = other ? other->as_bytecode() : nullptr;
    for (uint32_t i = 0; module && i < module->view().import_count(); ++i) {
      const bytecode::ImportView import = module->view().import(i);
      if (import.name == name) return std::string(import.signature);
    }
  }
  return {};
}

void add_function(PythonModule& module, const std::string& name, std::string signature, PyObject* callable) {
  PythonFunction& added =
      module.functions.emplace_back(PythonFunction{&module, name, std::move(signature), callable, {}, {}});
  take(bytecode::signature_shape(added.signature));
  added.arguments = parameters_of(bytecode::arguments_of(added.signature));
  added.results = parameters_of(bytecode::results_of(added.signature));
  const bool is_command = !added.arguments.empty() && added.arguments[0].type_name == kCommandBuffer;
  module.exports.push_back({added.name.c_str(), added.signature.c_str(), is_command ? command_body : function_body,
                            &added, BATON_TRAIT_LEAVES_ARGUMENTS | (is_command ? BATON_TRAIT_COMMAND : 0)});
}

void fill_descriptor(PythonModule& module) {
  baton_module_descriptor& descriptor = module.descriptor;
  descriptor.struct_size = sizeof(descriptor);
  descriptor.abi_version = BATON_ABI_VERSION;
  descriptor.name = module.name.c_str();
  descriptor.export_stride = sizeof(baton_export);
  descriptor.exports = module.exports.data();
  descriptor.export_count = module.exports.size();
  descriptor.self = &module;
  descriptor.destroy = [](void* self) { delete static_cast<PythonModule*>(self); };
  descriptor.create_state = [](void* self, const baton_allocator*, void** out_state) -> baton_status* {
    *out_state = self;
    return nullptr;
  };
  if (module.prepare) descriptor.prepare = prepare;
}

}  // namespace

Ref<const vm::Module> make_python_module(nb::handle recipe, std::span<const Ref<const vm::Module>> others,
                                         std::span<const Ref<OpenDevice>> devices) {
  auto module = std::make_unique<PythonModule>();
  module->name = nb::cast<std::string>(recipe.attr("name"));
  module->devices.assign(devices.begin(), devices.end());
  nb::object hook = recipe.attr("prepare");
  if (!hook.is_none()) module->prepare = hook.ptr();
  for (nb::handle item : nb::cast<nb::dict>(recipe.attr("functions")).items()) {
    const std::string name = nb::cast<std::string>(item[0]);
    std::string signature = nb::cast<std::string>(item[1][1]);
    if (signature.empty()) signature = imported_signature(text(module->name, ".", name), others);
    if (!signature.empty()) add_function(*module, name, std::move(signature), nb::object(item[1][0]).ptr());
  }
  fill_descriptor(*module);
  return take(modules::NativeModule::make(&module.release()->descriptor));
}

}  // namespace baton::python
