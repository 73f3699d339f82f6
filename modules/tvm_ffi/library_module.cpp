#include "modules/tvm_ffi/library_module.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <deque>
#include <filesystem>

#include "base/shared_object.hpp"
#include "modules/host_table.hpp"
#include "modules/sdk/host.hpp"
#include "modules/tvm_ffi/function.hpp"
#include "modules/tvm_ffi/guarded_call.hpp"
#include "modules/tvm_ffi/library_symbols.hpp"
#include "modules/tvm_ffi/values.hpp"
#include "vm/bytecode_module.hpp"

namespace baton::modules {

const OtherLibraries& other_libraries() {
  static constexpr OtherLibraries libraries = {tvm_ffi::is_library, tvm_ffi::load_library};
  return libraries;
}

namespace tvm_ffi {
namespace {

struct LibraryModule {
  std::string name;
  std::deque<Function> functions;  // Never move: exports point to them.
  std::vector<baton_export> exports;
  const baton_object_type* types[1] = {held_object_type()};
  baton_module_descriptor descriptor{};
};

// What the parameters of the reference say.
struct Wishes {
  std::string name;
  std::string runtime;
};

// "add_one" of "libadd_one.so.1": what programs can import from, whatever the file is called.
std::string module_name(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  if (const size_t ending = name.find(".so"); ending != name.npos && ending != 0) name.erase(ending);
  if (name.starts_with("lib") && name.size() > 3) name.erase(0, 3);
  for (char& c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!fits) c = '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, 1, '_');
  return name;
}

Wishes wishes_of(const PluginReference& reference) {
  Wishes wishes{.name = module_name(reference.path), .runtime = {}};
  for (const modules::Parameter& parameter : reference.parameters) {
    if (parameter.key == "name") {
      wishes.name = parameter.value;
    } else if (parameter.key == "runtime") {
      wishes.runtime = parameter.value;
    }
  }
  return wishes;
}

class Loader {
 public:
  Loader(const PluginReference& reference, std::span<const Ref<const vm::Module>> importers)
      : reference_(reference),
        importers_(importers),
        wishes_(wishes_of(reference)),
        names_(exported_functions(reference.path)) {}

  Result<Ref<const vm::Module>> load() {
    BATON_TRY(check_shared_object(reference_.path.c_str()));
    BATON_TRY(check_parameters());
    BATON_TRY(open_both());
    module_->name = wishes_.name;
    BATON_TRY(add_functions());
    BATON_TRY(check_imports());
    fill_descriptor();
    return NativeModule::make(&module_.release()->descriptor);
  }

 private:
  // A parameter that is neither an option nor a function is a misspelled one.
  Status check_parameters() const {
    for (const modules::Parameter& parameter : reference_.parameters) {
      if (parameter.key == "name" || parameter.key == "runtime" || has(parameter.key)) continue;
      const std::string near = nearest_names(parameter.key, views());
      return failure(StatusCode::kInvalidArgument, "'", parameter.key,
                     "' is neither name, runtime nor a function of it", near.empty() ? "." : "; ", near);
    }
    return {};
  }

  // A library may know where its TVM-FFI is.
  Status open_both() {
    if (wishes_.runtime.empty()) open();
    BATON_TRY_ASSIGN(runtime_, Runtime::open(wishes_.runtime));
    if (!handle_) open();
    if (handle_) return {};
    return failure(StatusCode::kFailedPrecondition, "It cannot be opened: ", dlerror(), ".");
  }

  void open() {
    const std::string path = reference_.path.find('/') == std::string::npos ? "./" + reference_.path : reference_.path;
    handle_ = open_shared_object(path);
  }

  Status add_functions() {
    for (const std::string& name : names_) {
      if (name.starts_with('_')) continue;  // What a library says of itself, and what it keeps there.
      BATON_TRY_ASSIGN(const bool known, add_function(name));
      static_cast<void>(known);
    }
    return {};
  }

  Result<bool> add_function(const std::string& name) {
    Signature signature;
    if (const auto* said = parameter(name)) {
      BATON_TRY_ASSIGN(signature, parse_words(said->value));
    } else if (const std::string imported = imported_signature(name); !imported.empty()) {
      auto parsed = parse_import(imported);
      if (!parsed) return std::move(parsed).error().with_context(text("in function '", name, "'"));
      signature = *std::move(parsed);
    } else if (!parse_schema(schema(name), signature)) {
      return false;
    }
    Function& function = module_->functions.emplace_back();
    function.runtime = runtime_;
    function.module = wishes_.name;
    function.name = name;
    function.call = symbol(name);
    function.signature = std::move(signature);
    function.signature_text = function.signature.text();
    for (const Parameter& each : function.signature.arguments) function.reference_count += each.kind > Kind::kBool;
    const bool records = function.signature.is_command;
    module_->exports.push_back(
        {function.name.c_str(), function.signature_text.c_str(), prepare_body(function), &function,
         BATON_TRAIT_LEAVES_ARGUMENTS | (records ? BATON_TRAIT_COMMAND | BATON_TRAIT_TYPED_TENSORS : 0)});
    return true;
  }

  // What can be known of its calls is found out here, once.
  static baton_body prepare_body(Function& function) {
    if (function.signature.is_command) return record_function;
    if (!is_plain(function.signature)) return call_function;
    function.plan = plan_of(function.signature);
    if (has_numbers_alone(function.signature)) return call_with_numbers;
    const std::vector<Parameter>& all = function.signature.arguments;
    const bool keeps =
        std::any_of(all.begin(), all.end(), [](const Parameter& each) { return each.kind == Kind::kTensor; });
    return keeps ? call_with_tensors : call_with_views;
  }

  SafeCall symbol(const std::string& name) const {
    return reinterpret_cast<SafeCall>(dlsym(handle_, ("__tvm_ffi_" + name).c_str()));
  }

  // What the library tells of a function, where it was built so.
  std::string schema(const std::string& name) const {
    const SafeCall tell = symbol("_metadata_" + name);
    Any told;
    if (!tell || guarded_call(*runtime_, tell, nullptr, 0, &told) != 0) return {};
    std::string found;
    if (told.type_index == kText) {
      const auto& all = cell_of<ByteArray>(told.object);
      found.assign(all.data, all.size);
      std::erase(found, '\\');  // The schema is a string within it.
    }
    runtime_->drop(told);
    return found;
  }

  template <typename Visit>
  void each_import(const Visit& visit) const {
    for (const auto& other : importers_) {
      const vm::BytecodeModule* module = other ? other->as_bytecode() : nullptr;
      for (uint32_t i = 0; module && i < module->view().import_count(); ++i) {
        const bytecode::ImportView import = module->view().import(i);
        if (import.module_name() == wishes_.name) visit(*module, import);
      }
    }
  }

  std::string imported_signature(std::string_view name) const {
    std::string found;
    each_import([&](const vm::BytecodeModule&, const bytecode::ImportView& import) {
      if (found.empty() && import.function_name() == name) found = std::string(import.signature);
    });
    return found;
  }

  Status check_imports() const {
    Status status;
    each_import([&](const vm::BytecodeModule& module, const bytecode::ImportView& import) {
      if (!status.ok() || import.optional || has(import.function_name())) return;
      const std::string near = nearest_names(import.function_name(), views());
      status = failure(StatusCode::kNotFound, "'", module.name(), "' imports '", import.name,
                       "', and the library has no such function", near.empty() ? "." : "; ", near);
    });
    return status;
  }

  bool has(std::string_view name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end() && !name.starts_with('_');
  }
  std::vector<std::string_view> views() const {
    std::vector<std::string_view> all;
    for (const std::string& name : names_) {
      if (!name.starts_with('_')) all.push_back(name);
    }
    return all;
  }
  const modules::Parameter* parameter(std::string_view name) const {
    for (const modules::Parameter& each : reference_.parameters) {
      if (each.key == name) return &each;
    }
    return nullptr;
  }

  void fill_descriptor() {
    baton_module_descriptor& descriptor = module_->descriptor;
    descriptor.struct_size = sizeof(descriptor);
    descriptor.abi_version = BATON_ABI_VERSION;
    descriptor.name = module_->name.c_str();
    descriptor.version = 1;
    descriptor.export_stride = sizeof(baton_export);
    descriptor.exports = module_->exports.data();
    descriptor.export_count = module_->exports.size();
    descriptor.types = module_->types;
    descriptor.type_count = 1;
    descriptor.self = module_.get();
    descriptor.destroy = [](void* self) { delete static_cast<LibraryModule*>(self); };
  }

  const PluginReference& reference_;
  std::span<const Ref<const vm::Module>> importers_;
  Wishes wishes_;
  std::vector<std::string> names_;
  std::shared_ptr<const Runtime> runtime_;
  void* handle_ = nullptr;
  std::unique_ptr<LibraryModule> module_ = std::make_unique<LibraryModule>();
};

}  // namespace

bool is_library(const std::string& path) {
  const std::vector<std::string> names = exported_functions(path);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) { return !name.starts_with('_'); });
}

Result<Ref<const vm::Module>> load_library(const PluginReference& reference,
                                           std::span<const Ref<const vm::Module>> importers) {
  sdk::bind_host(&host_table());
  auto module = Loader(reference, importers).load();
  if (!module) return std::move(module).error().with_context(text("in TVM-FFI library '", reference.path, "'"));
  return module;
}

}  // namespace tvm_ffi
}  // namespace baton::modules
