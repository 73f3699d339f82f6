// baton_tvm_ffi.so: Baton as a library of TVM-FFI.
//
//   baton = tvm_ffi.load_module("baton_tvm_ffi.so")
//   program = baton.load("scale.bvm")                   # load(path, device="", *modules)
//   y = program("scale")(x)                             # program() lists the names
//   baton.register("scale.bvm")                         # each export as a global function, "scale.scale"
//
// `modules` are what the program imports from, as --module= names them: plugins, other programs, libraries of TVM-FFI.
#include "modules/plugin_loader.hpp"
#include "modules/sdk/module.h"
#include "modules/tvm_ffi/program.hpp"
#include "modules/tvm_ffi/values.hpp"
#include "vm/bytecode_module.hpp"

namespace baton::modules::tvm_ffi {
namespace {

// Brings libraries of TVM-FFI, to which the loader of plugins refers weakly.
[[gnu::used]] const OtherLibraries& (*const kOtherLibraries)() = other_libraries;

Result<std::string> text_in(const Any& any, std::string_view what) {
  std::string_view bytes;
  Any copy = any;
  if (!read_bytes(copy, bytes)) {
    return failure(StatusCode::kInvalidArgument, "The ", what, " is a str, and ", describe(any), " was given.");
  }
  return std::string(bytes);
}

// The content decides, not the name: a program of Baton's, else a shared library.
Result<Ref<const vm::Module>> load_one(const std::string& source, std::span<const Ref<const vm::Module>> importers) {
  auto program = vm::BytecodeModule::load_file(source.c_str());
  if (program) return Ref<const vm::Module>(*std::move(program));
  if (source.find(".so") == source.npos) return std::move(program).error();
  return load_plugin(source, importers);
}

// Modules come before the program that imports from them.
Result<Ref<Program>> load_program(std::shared_ptr<const Runtime> runtime, std::span<const Any> arguments) {
  if (arguments.empty()) return failure(StatusCode::kInvalidArgument, "The path of a program is missing.");
  ProgramOptions options;
  BATON_TRY_ASSIGN(const std::string path, text_in(arguments[0], "path of a program"));
  if (arguments.size() > 1) {
    BATON_TRY_ASSIGN(options.device, text_in(arguments[1], "device"));
  }
  options.modules.resize(std::max<size_t>(arguments.size(), 2) - 1);
  BATON_TRY_ASSIGN(options.modules.back(), load_one(path, {}));
  for (size_t i = 2; i < arguments.size(); ++i) {
    BATON_TRY_ASSIGN(const std::string source, text_in(arguments[i], "module"));
    BATON_TRY_ASSIGN(options.modules[i - 2], load_one(source, options.modules));
  }
  return Program::make(std::move(runtime), std::move(options));
}

struct LookUp {
  std::shared_ptr<const Runtime> runtime;
  Ref<Program> program;
};

Status list_names(const Runtime& runtime, const std::vector<std::string>& names, Any& out) {
  std::string lines;
  for (const std::string& name : names) lines += text(lines.empty() ? "" : " ", name);
  BATON_TRY_ASSIGN(out, any_of_bytes(runtime, Kind::kString, lines));
  return {};
}

Status look_up(const LookUp& in, std::span<const Any> arguments, Any& out) {
  if (arguments.empty()) return list_names(*in.runtime, in.program->names(), out);
  BATON_TRY_ASSIGN(const std::string name, text_in(arguments[0], "name of a function"));
  BATON_TRY_ASSIGN(out.object, in.program->function(name));
  out.type_index = kFunction;
  return {};
}

int look_up_call(void* self, const Any* arguments, int32_t count, Any* result) {
  const auto& in = *static_cast<const LookUp*>(self);
  const Status status = look_up(in, {arguments, static_cast<size_t>(count)}, *result);
  return status.ok() ? 0 : in.runtime->raise(status);
}

Status load(const std::shared_ptr<const Runtime>& runtime, std::span<const Any> arguments, Any& out) {
  BATON_TRY_ASSIGN(Ref<Program> program, load_program(runtime, arguments));
  auto kept = std::make_unique<LookUp>(LookUp{runtime, std::move(program)});
  void* object = nullptr;
  const int code = runtime->function_create(
      kept.get(), look_up_call, [](void* self) { delete static_cast<LookUp*>(self); }, &object);
  if (code != 0) return runtime->take_error(code);
  kept.release();
  out.type_index = kFunction;
  out.object = static_cast<AnyObject*>(object);
  return {};
}

Status register_all(const std::shared_ptr<const Runtime>& runtime, std::span<const Any> arguments, Any& out) {
  BATON_TRY_ASSIGN(Ref<Program> program, load_program(runtime, arguments));
  std::vector<std::string> names;
  for (const std::string& export_name : program->names()) {
    const std::string name = text(program->name(), ".", export_name);
    BATON_TRY_ASSIGN(AnyObject * function, program->function(export_name));
    const ByteArray key = {name.data(), name.size()};
    const int code = runtime->function_set_global(&key, function, 0);
    runtime->release(function);
    if (code != 0) return runtime->take_error(code);
    names.push_back(name);
  }
  return list_names(*runtime, names, out);
}

using Body = Status (*)(const std::shared_ptr<const Runtime>& runtime, std::span<const Any> arguments, Any& out);

int run(Body body, const Any* arguments, int32_t count, Any* result) {
  const auto runtime = Runtime::open({});
  if (!runtime) return kRaised;  // Whoever calls has it, of a version that we don't know.
  const Status status = body(*runtime, {arguments, static_cast<size_t>(count)}, *result);
  return status.ok() ? 0 : (*runtime)->raise(status);
}

}  // namespace
}  // namespace baton::modules::tvm_ffi

extern "C" {

BATON_EXPORT int __tvm_ffi_load(void*, const baton::modules::tvm_ffi::Any* arguments, int32_t count,
                                baton::modules::tvm_ffi::Any* result) {
  return baton::modules::tvm_ffi::run(baton::modules::tvm_ffi::load, arguments, count, result);
}

BATON_EXPORT int __tvm_ffi_register(void*, const baton::modules::tvm_ffi::Any* arguments, int32_t count,
                                    baton::modules::tvm_ffi::Any* result) {
  return baton::modules::tvm_ffi::run(baton::modules::tvm_ffi::register_all, arguments, count, result);
}

}  // extern "C"
