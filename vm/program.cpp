// Linking: all imports and types at once, all failures in one message.
//
// A program is one allocation: itself, then the arrays that its LinkedModules point to. The linker counts first, then
// fills.
#include "vm/program.hpp"

#include <map>
#include <memory>
#include <new>
#include <utility>

#include "base/bytes.hpp"
#include "vm/shared_references.hpp"

namespace baton::vm {
namespace {

std::vector<std::string_view> export_names(const Module& module) {
  std::vector<std::string_view> names;
  for (uint32_t i = 0; i < module.export_count(); ++i) names.push_back(module.export_at(i).name);
  return names;
}

}  // namespace

// Sizes of the arrays behind a program, and the cursor that hands them out.
struct ProgramArrays {
  size_t imports = 0;
  size_t types = 0;  // type tables and global types
  size_t segments = 0;

  size_t bytes(size_t module_count) const {
    return sizeof(LinkedModule) * module_count + sizeof(ImportSlot) * imports + sizeof(const ObjectType*) * types +
           sizeof(bytecode::SegmentShape) * segments;
  }
};

class Linker {
 public:
  explicit Linker(std::span<const Ref<const Module>> modules) : given_(modules) {}

  Result<Ref<Program>> link() {
    count();
    allocate();
    for (size_t i = 0; i < given_.size(); ++i) link_module(static_cast<uint32_t>(i));
    if (!problems_.empty()) {
      program_ = nullptr;
      return failure(problem_code_, "cannot link:", problems_);
    }
    if (program_->globals_size_ != 0) note_shared();
    return std::move(program_);
  }

 private:
  void count() {
    for (const Ref<const Module>& module : given_) {
      const BytecodeModule* bytecode = module->as_bytecode();
      if (!bytecode) continue;
      const bytecode::ModuleView& view = bytecode->view();
      arrays_.imports += view.import_count();
      arrays_.types += view.type_count() + view.global_count();
      for (uint32_t i = 0; i < view.import_count(); ++i) {
        arrays_.segments += bytecode::signature_shape(view.import(i).signature)->segments;
      }
    }
  }

  void allocate() {
    void* memory = ::operator new(sizeof(Program) + arrays_.bytes(given_.size()));
    program_ = Ref<Program>::adopt(new (memory) Program());
    auto* linked = reinterpret_cast<LinkedModule*>(program_.get() + 1);
    auto* imports = reinterpret_cast<ImportSlot*>(linked + given_.size());
    auto* types = reinterpret_cast<const ObjectType**>(imports + arrays_.imports);
    next_import_ = imports;
    next_type_ = types;
    next_segment_ = reinterpret_cast<bytecode::SegmentShape*>(types + arrays_.types);
    linked_ = linked;
    for (size_t i = 0; i < given_.size(); ++i) new (linked + i) LinkedModule();
    program_->modules_ = {linked, given_.size()};
  }

  void link_module(uint32_t index) {
    LinkedModule& linked = linked_[index];
    linked.module = given_[index];
    linked.bytecode = linked.module->as_bytecode();
    linked.globals_begin = program_->globals_size_;
    check_name(index);
    if (!linked.bytecode) return;
    const bytecode::ModuleView& view = linked.bytecode->view();
    linked.functions = linked.bytecode->functions().data();
    linked.global_count = view.global_count();
    program_->globals_size_ += view.global_count();
    program_->longest_stretch_ = std::max(program_->longest_stretch_, view.longest_stretch());
    link_types(index, view);
    linked.imports = next_import_;
    for (uint32_t i = 0; i < view.import_count(); ++i)
      link_import(index, view.import(i), *new (next_import_++) ImportSlot());
  }

  void note_shared() {
    std::string changes = changed_shared_references(program_->modules_);
    if (!changes.empty()) program_->changes_shared_ = std::make_unique<const std::string>(std::move(changes));
  }

  void check_name(uint32_t index) {
    for (uint32_t i = 0; i < index; ++i) {
      if (given_[i]->name() == given_[index]->name()) {
        problem(StatusCode::kAlreadyExists, "two modules are called '", given_[index]->name(), "'");
      }
    }
  }

  void link_types(uint32_t index, const bytecode::ModuleView& view) {
    LinkedModule& linked = linked_[index];
    linked.types = next_type_;
    for (uint32_t i = 0; i < view.type_count(); ++i) *next_type_++ = find_type(view.name(), view.type(i), index);
    linked.global_types = next_type_;
    for (uint32_t i = 0; i < view.global_count(); ++i) {
      const bytecode::GlobalView global = view.global(i);
      *next_type_++ = bytecode::is_ref(global.type) ? find_type({}, global.ref_type, index) : nullptr;
    }
  }

  // Null for any type, which a bare `ref` allows. `importer` is empty when a missing type has been reported already.
  const ObjectType* find_type(std::string_view importer, std::string_view name, uint32_t before) {
    if (name.empty() || name == "ref") return nullptr;
    if (name == Blob::kType.name) return &Blob::kType;
    if (name == List::kType.name) return &List::kType;
    if (name == ExecutableRow::kType.name) return &ExecutableRow::kType;
    for (uint32_t i = before; i-- > 0;) {
      for (const ObjectType* type : given_[i]->types()) {
        if (name == type->name) return type;
      }
    }
    if (!importer.empty() && !is_of_missing_module(name, before)) {
      problem(StatusCode::kNotFound, "'", importer, "' uses the type '", name,
              "', which no module before it provides (", names_before(before), ")");
    }
    return nullptr;
  }

  void link_import(uint32_t importer, const bytecode::ImportView& import, ImportSlot& slot) {
    slot.shape = *bytecode::signature_shape(import.signature);  // Verified: well formed.
    slot.segments = link_segments(import, slot.shape);
    slot.module = importer;
    if (resolve(importer, import, slot)) return;
    if (import.fallback != bytecode::kNoIndex) slot.callee = linked_[importer].functions + import.fallback;
  }

  const bytecode::SegmentShape* link_segments(const bytecode::ImportView& import,
                                              const bytecode::SignatureShape& shape) {
    bytecode::SegmentShape* const segments = next_segment_;
    if (shape.segments == 0) return segments;
    next_segment_ = std::uninitialized_value_construct_n(segments, shape.segments);
    bytecode::segment_shapes(import.signature, segments);
    return segments;
  }

  // What a module imports from one that is not before it, optional imports aside.
  struct Missing {
    uint32_t count = 0;
    std::string_view first;
    bool is_told = false;
  };
  // By the name of the missing module; counted when the importer's first one is asked for.
  std::map<std::string_view, Missing>& missing_modules(uint32_t importer) {
    if (missing_of_ == importer) return missing_;
    missing_of_ = importer;
    missing_.clear();
    const bytecode::ModuleView& view = given_[importer]->as_bytecode()->view();
    for (uint32_t i = 0; i < view.import_count(); ++i) {
      const bytecode::ImportView import = view.import(i);
      if (import.optional || find_module(import.module_name(), importer)) continue;
      Missing& missing = missing_[import.module_name()];
      if (missing.count++ == 0) missing.first = import.name;
    }
    return missing_;
  }

  // What is imported from the type's module says that it is missing.
  bool is_of_missing_module(std::string_view type, uint32_t importer) {
    return missing_modules(importer).contains(type.substr(0, type.find('.')));
  }

  // One line for a module, however much of it is imported.
  void report_missing_module(uint32_t importer, const bytecode::ImportView& import) {
    Missing& missing = missing_modules(importer)[import.module_name()];
    if (std::exchange(missing.is_told, true)) return;
    problem(StatusCode::kNotFound, "'", given_[importer]->name(), "' imports '", missing.first, "'",
            missing.count > 1 ? text(" and ", missing.count - 1, " more") : "", ", but no module '",
            import.module_name(), "' is linked before it (", names_before(importer), ")");
  }

  // Finds the export and binds the slot to it. A missing optional import is no problem; one that does not fit is.
  bool resolve(uint32_t importer, const bytecode::ImportView& import, ImportSlot& slot) {
    const std::string_view who = given_[importer]->name();
    const std::optional<uint32_t> provider = find_module(import.module_name(), importer);
    if (!provider) {
      if (!import.optional) report_missing_module(importer, import);
      return false;
    }
    const Module& module = *given_[*provider];
    if (module.version() < import.minimum_version) {
      if (!import.optional) {
        problem(StatusCode::kFailedPrecondition, "'", who, "' imports '", import.name, "' from version ",
                import.minimum_version, " of '", module.name(), "', but version ", module.version(), " is linked");
      }
      return false;
    }
    const std::optional<uint32_t> found = module.find_export(import.function_name());
    if (!found) {
      if (!import.optional) report_missing(who, import, module);
      return false;
    }
    const Module::Export exported = module.export_at(*found);
    if (!bytecode::signatures_agree(import.signature, exported.signature)) {
      problem(StatusCode::kInvalidArgument, "'", who, "' imports '", import.name, "' as ",
              bytecode::describe_signature(import.signature), ", but it is ",
              bytecode::describe_signature(exported.signature), exported.hint.empty() ? "" : "; ", exported.hint);
      return false;
    }
    bind(*provider, *found, slot);
    return true;
  }

  void bind(uint32_t provider, uint32_t export_index, ImportSlot& slot) {
    slot.module = provider;
    slot.resolved = true;
    if (const BytecodeModule* bytecode = given_[provider]->as_bytecode()) {
      slot.callee = &bytecode->functions()[bytecode->view().export_at(export_index).function];
    } else {
      slot.native = given_[provider]->native_function(export_index);
      slot.borrows = slot.native.leaves_arguments;
    }
  }

  std::optional<uint32_t> find_module(std::string_view name, uint32_t before) const {
    for (uint32_t i = before; i-- > 0;) {
      if (given_[i]->name() == name) return i;
    }
    return std::nullopt;
  }

  void report_missing(std::string_view who, const bytecode::ImportView& import, const Module& module) {
    const std::string near = nearest_names(import.function_name(), export_names(module));
    problem(StatusCode::kNotFound, "'", who, "' imports '", import.name, "', but module '", module.name(),
            "' exports no such function", near.empty() ? "" : "; ", near);
  }

  std::string names_before(uint32_t index) const {
    std::string names = index == 0 ? "there is none" : "there are ";
    for (uint32_t i = 0; i < index; ++i) names += text(i == 0 ? "'" : ", '", given_[i]->name(), "'");
    return names;
  }

  template <typename... Parts>
  [[gnu::always_inline]] void problem(StatusCode code, const Parts&... parts) {
    const TextPiece pieces[] = {parts...};
    note_problem(code, pieces);
  }
  void note_problem(StatusCode code, std::span<const TextPiece> pieces) {
    if (problems_.empty()) problem_code_ = code;
    problems_.append("\n  ").append(join_text(pieces));
  }

  std::span<const Ref<const Module>> given_;
  ProgramArrays arrays_;
  Ref<Program> program_;
  LinkedModule* linked_ = nullptr;
  ImportSlot* next_import_ = nullptr;
  const ObjectType** next_type_ = nullptr;
  bytecode::SegmentShape* next_segment_ = nullptr;
  std::map<std::string_view, Missing> missing_;
  uint32_t missing_of_ = UINT32_MAX;  // Whose they are.
  StatusCode problem_code_ = StatusCode::kOk;
  std::string problems_;
};

Result<Ref<Program>> Program::link(std::span<const Ref<const Module>> modules) { return Linker(modules).link(); }

void Program::destroy() const {
  for (const LinkedModule& linked : modules_) linked.~LinkedModule();
  this->~Program();
  ::operator delete(const_cast<Program*>(this));
}

ExportedFunction Program::exported_function(uint32_t module, uint32_t export_index) const {
  const LinkedModule& linked = modules_[module];
  const Module::Export exported = linked.module->export_at(export_index);
  ExportedFunction function{.module = module,
                            .export_index = export_index,
                            .body = nullptr,
                            .native = {},
                            .name = exported.name,
                            .signature = exported.signature,
                            .shape = {}};
  if (linked.bytecode) {
    function.body = linked.functions + linked.bytecode->view().export_at(export_index).function;
    function.shape = function.body->shape;
  } else {
    function.native = linked.module->native_function(export_index);
    function.shape = *bytecode::signature_shape(exported.signature);
  }
  return function;
}

Result<ExportedFunction> Program::find_function(std::string_view name) const {
  for (size_t i = modules_.size(); i-- > 0;) {
    const Module& module = *modules_[i].module;
    if (const auto found = module.find_export(name)) return exported_function(static_cast<uint32_t>(i), *found);
    if (!name.starts_with(module.name()) || name.substr(module.name().size(), 1) != ".") continue;
    if (const auto found = module.find_export(name.substr(module.name().size() + 1))) {
      return exported_function(static_cast<uint32_t>(i), *found);
    }
  }
  std::vector<std::string_view> names;
  std::string listed;
  if (!modules_.empty()) names = export_names(*modules_.back().module);
  for (std::string_view candidate : names) listed += text(listed.empty() ? "" : ", ", candidate);
  const std::string near = nearest_names(name, names);
  return failure(StatusCode::kNotFound, "no function '", name, "'", near.empty() ? names.empty() ? "" : "." : "; ",
                 near, names.empty() ? std::string() : text(" The last module exports: ", listed, "."));
}

}  // namespace baton::vm
