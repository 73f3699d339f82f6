#include "compiler-lite/emit/module.hpp"

#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/dialects/vm/dialect.hpp"
#include "compiler-lite/dialects/vm/executable.hpp"
#include "compiler-lite/emit/constants.hpp"
#include "compiler-lite/emit/select.hpp"
#include "compiler-lite/emit/types.hpp"
#include "compiler-lite/emit/write_function.hpp"

namespace baton::compiler_lite::emit {

using namespace mlir;  // NOLINT: this file reads MLIR.

Location ModuleTables::location_of(mlir::Location location) {
  if (auto named = dyn_cast<NameLoc>(location)) return location_of(named.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(location)) return location_of(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (const mlir::Location each : fused.getLocations()) {
      if (const Location found = location_of(each); found.file != 0) return found;
    }
    return {};
  }
  const auto place = dyn_cast<FileLineColLoc>(location);
  if (!place) return {};
  const auto [found, is_new] = file_indices.try_emplace(place.getFilename().str(), static_cast<uint32_t>(files.size()));
  if (is_new) files.push_back(place.getFilename().str());
  return {found->second, place.getLine(), place.getColumn()};
}

uint32_t ModuleTables::rodata(std::string_view name, ArrayRef<char> bytes) {
  return builder.add_rodata(name, std::as_bytes(std::span(bytes.data(), bytes.size())), /*share=*/true);
}

namespace {

// The symbols of a module in the order of the file, so that the same input gives the same bytes.
class Emitter {
 public:
  Emitter(ModuleOp module, const Options& options)
      : module_(module), builder_(module.getName().value_or("module").str()), tables_{builder_, {}, {}} {
    if (options.strip_debug) {
      builder_.strip_debug();
    } else if (const auto flops = module->getAttrOfType<DictionaryAttr>(vm::kFlops)) {
      for (const NamedAttribute entry : flops) {
        const auto text = dyn_cast<StringAttr>(entry.getValue());
        const std::string key = ("flops." + entry.getName().getValue()).str();
        if (text) builder_.add_attribute(bytecode::kNoIndex, key, std::string_view(text.getValue()));
      }
    }
  }

  FailureOr<std::vector<std::byte>> run() {
    if (failed(declare()) || failed(define())) return mlir::failure();
    baton::Result<std::vector<std::byte>> bytes = builder_.finish();
    if (!bytes) return module_.emitError() << "the module can't be written: " << bytes.error().to_string();
    return std::move(*bytes);
  }

 private:
  LogicalResult declare() {
    for (Operation& op : *module_.getBody()) {
      if (auto function = dyn_cast<util::FuncOp>(op)) {
        if (function.isExternal())
          imports_.push_back(function);
        else
          declare_function(function);
      } else if (auto import = dyn_cast<vm::ImportOp>(op)) {
        declare_machine_import(import);
      } else if (auto global = dyn_cast<util::GlobalOp>(op)) {
        if (failed(declare_global(global))) return mlir::failure();
      } else if (!isa<util::InitializerOp, vm::ExecutableOp>(op)) {
        return op.emitOpError() << "has no form in the host program";
      }
    }
    // Conditions and fallbacks are functions of this module, so executables and imports come after them.
    for (auto executable : module_.getOps<vm::ExecutableOp>()) {
      if (failed(declare_executable(executable))) return mlir::failure();
    }
    for (util::FuncOp import : imports_) {
      if (failed(declare_import(import))) return mlir::failure();
    }
    return success();
  }

  void declare_function(util::FuncOp function) {
    const std::string name = function.getSymName().str();
    const FunctionType type = function.getFunctionType();
    const uint32_t index = builder_.declare_function(name, signature_text(type.getInputs(), type.getResults()));
    tables_.callees[name] = {index, false, function.isPublic(), type};
    if (!function.isPublic()) return;
    builder_.add_export(name, index);
    const auto reflection = function->getAttrOfType<DictionaryAttr>("iree.reflection");
    if (!reflection) return;
    for (const NamedAttribute entry : reflection) {
      StringRef key = entry.getName().getValue();
      key.consume_front("iree.");
      const auto text = dyn_cast<StringAttr>(entry.getValue());
      if (text) builder_.add_attribute(index, std::string_view(key), std::string_view(text.getValue()));
    }
  }

  LogicalResult declare_executable(vm::ExecutableOp op) {
    vm::ExecutableContents contents = vm::read_executable(op);
    for (size_t i = 0; i < contents.variants.size(); ++i) {
      const auto& [code, condition] = contents.variants[i];
      bytecode::VariantRow& row = contents.row.variants[i];
      row.rodata = tables_.rodata(contents.row.name + "." + row.format, code);
      if (condition.empty()) continue;
      const auto found = tables_.callees.find(condition);
      if (found == tables_.callees.end()) {
        return op.emitOpError() << "has the condition @" << condition << ", which is no function of this module";
      }
      row.condition = found->second.index;
    }
    const std::string name = contents.row.name;
    tables_.executables[name] = builder_.add_executable(std::move(contents.row));
    return success();
  }

  LogicalResult declare_import(util::FuncOp function) {
    const std::string name = function.getSymName().str();
    if (name.find('.') == std::string::npos) {
      return function.emitOpError() << "'" << name
                                    << "' has no body, and no module to come from: an import is called module.function";
    }
    FunctionType type = function.getFunctionType();
    if (const auto given = function->getAttrOfType<TypeAttr>("vm.signature")) {
      const auto machine = dyn_cast<FunctionType>(given.getValue());
      if (!machine || machine.getNumInputs() != type.getNumInputs() ||
          machine.getNumResults() != type.getNumResults()) {
        return function.emitOpError() << "has vm.signature " << given.getValue() << ", which does not fit " << type;
      }
      type = machine;
    }
    bytecode::ModuleBuilder::Import import{name, signature_text(type.getInputs(), type.getResults())};
    if (const auto version = function->getAttrOfType<IntegerAttr>("vm.version")) {
      import.minimum_version = static_cast<uint32_t>(version.getInt());
    }
    if (const auto fallback = function->getAttrOfType<SymbolRefAttr>("vm.fallback")) {
      const auto found = tables_.callees.find(fallback.getRootReference().str());
      if (found == tables_.callees.end() || found->second.is_import) {
        return function.emitOpError() << "has vm.fallback " << fallback << ", which is no function of this module";
      }
      if (found->second.machine_type != function.getFunctionType()) {
        return function.emitOpError() << "is " << function.getFunctionType() << ", and its vm.fallback " << fallback
                                      << " is " << found->second.machine_type;
      }
      import.optional = true;
      import.fallback = found->second.index;
    }
    tables_.callees[name] = {builder_.add_import(std::move(import)), true, true, type, {},
                             function->hasAttr("vm.signature")};
    return success();
  }

  void declare_machine_import(vm::ImportOp op) {
    const std::string name = op.getSymName().str();
    const auto type = cast<FunctionType>(op.getFunctionType());
    const ArrayRef<bool> variadic = op.getVariadic().value_or(ArrayRef<bool>());
    bytecode::ModuleBuilder::Import import{name, signature_text(type.getInputs(), type.getResults(), variadic)};
    import.optional = op.getIsOptional();
    if (const auto version = op->getAttrOfType<IntegerAttr>("minimum_version")) {
      import.minimum_version = static_cast<uint32_t>(version.getInt());
    }
    tables_.callees[name] = {builder_.add_import(std::move(import)), true, true, type,
                             std::vector<bool>(variadic.begin(), variadic.end())};
  }

  LogicalResult declare_global(util::GlobalOp global) {
    const std::optional<bytecode::ValueType> type = value_type(global.getType());
    if (!type) return global.emitOpError() << "is a " << global.getType() << ", which the host program can't hold";
    bytecode::ModuleBuilder::Global row{global.getSymName().str(), *type};
    if (*type == bytecode::ValueType::kRef) row.ref_type = ref_type_name(global.getType());
    if (const auto value = global.getInitialValue()) {
      const std::optional<Source> constant = constant_source(*value);
      if (!constant) return global.emitOpError() << "begins as " << *value << ", which is no scalar";
      row.initial = constant->value;
    }
    tables_.globals[global.getSymName().str()] = builder_.add_global(std::move(row));
    return success();
  }

  LogicalResult define() {
    bool has_initializers = false;
    for (Operation& op : *module_.getBody()) {
      if (auto function = dyn_cast<util::FuncOp>(op)) {
        if (function.isExternal()) continue;
        const ModuleTables::Callee& callee = tables_.callees[function.getSymName().str()];
        if (failed(write(op, function.getBody(), callee.is_boundary, callee.index))) return mlir::failure();
      }
      has_initializers = has_initializers || isa<util::InitializerOp>(op);
    }
    return has_initializers ? define_initializer() : success();
  }

  // One function that calls each initializer in turn.
  LogicalResult define_initializer() {
    Function all;
    all.blocks.emplace_back();
    for (auto initializer : module_.getOps<util::InitializerOp>()) {
      const uint32_t index = builder_.declare_function("__init_part", "v_v");
      if (failed(write(*initializer, initializer.getBody(), false, index))) return mlir::failure();
      all.blocks[0].instructions.push_back(
          {.kind = Instruction::Kind::kCall, .opcode = bytecode::Opcode::call, .callee = index});
    }
    all.blocks[0].instructions.push_back({.kind = Instruction::Kind::kReturn, .opcode = bytecode::Opcode::ret});
    const uint32_t index = builder_.declare_function("__init", "v_v");
    builder_.set_initializer(index);
    const baton::Status status = write_function(all, index, tables_.files, builder_);
    if (status.ok()) return success();
    return module_.emitError() << "the initializer can't be written: " << status.to_string();
  }

  LogicalResult write(Operation& op, Region& body, bool is_boundary, uint32_t index) {
    FailureOr<Function> selected = select_function(body, is_boundary, tables_);
    if (failed(selected)) return mlir::failure();
    const baton::Status status = write_function(*selected, index, tables_.files, builder_);
    if (status.ok()) return success();
    return op.emitOpError() << "can't be written: " << status.to_string();
  }

  ModuleOp module_;
  bytecode::ModuleBuilder builder_;
  ModuleTables tables_;
  std::vector<util::FuncOp> imports_;
};

}  // namespace

FailureOr<std::vector<std::byte>> emit_module(ModuleOp module, const Options& options) {
  return Emitter(module, options).run();
}

}  // namespace baton::compiler_lite::emit
