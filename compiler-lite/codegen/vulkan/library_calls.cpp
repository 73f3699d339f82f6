#include "compiler-lite/codegen/vulkan/library_calls.hpp"

namespace baton::compiler_lite::codegen::vulkan {
namespace {

namespace LLVM = mlir::LLVM;

using Kind = LibraryValue::Kind;

const LibraryFunction* find_function(llvm::ArrayRef<SpirvLibrary> libraries, llvm::StringRef name) {
  for (const SpirvLibrary& library : libraries) {
    for (const LibraryFunction& function : library.functions) {
      if (function.name == name) return &function;
    }
  }
  return nullptr;
}

std::string check(const LibraryFunction& function, LLVM::LLVMFunctionType called) {
  if (!function.problem.empty())
    return "The function '" + function.name + "' can't be called: " + function.problem + ".";
  bool fits = called.getNumParams() == function.parameters.size() && function.result.takes(called.getReturnType());
  for (unsigned i = 0; fits && i < called.getNumParams(); ++i) {
    fits = function.parameters[i].takes(called.getParamType(i));
  }
  if (fits) return {};
  std::string text = "The library has " + function.text() + "; kernels call it as ";
  llvm::raw_string_ostream stream(text);
  stream << called << ".";
  return stream.str();
}

// The type of a value that a function takes; 0: a function cannot take it.
Id type_of(mlir::Type type, SpirvWriter& writer) {
  if (llvm::isa<LLVM::LLVMVoidType>(type)) return writer.void_type();
  if (type.isInteger(1)) return writer.bool_type();
  if (type.isInteger(32) || type.isInteger(64)) return writer.int_type(type.getIntOrFloatBitWidth());
  if (type.isF32() || type.isF64()) return writer.float_type(type.getIntOrFloatBitWidth());
  const LibraryValue address{Kind::kInteger, 64};
  return address.takes(type) ? writer.int_type(64) : 0;
}

// Types and values as the library has them (`own`), and as kernels do.
class Adapter {
 public:
  Adapter(SpirvWriter& writer, const LibraryFunction& function) : writer_(writer), function_(function) {}

  void declare() {
    imported_ = writer_.new_id();
    const Id result = own_type(function_.result);
    Ids types = {result};
    for (const LibraryValue& each : function_.parameters) types.push_back(passed_type(each));
    writer_.effect(spv::kFunction, {result, imported_, 0, writer_.type(spv::kTypeFunction, types)});
    for (const Id each : llvm::ArrayRef(types).drop_front()) writer_.op(spv::kFunctionParameter, each, {});
    writer_.effect(spv::kFunctionEnd, {});
    writer_.import(imported_, function_.name);
  }

  LibraryCalls::Callee define() {
    const Id made = writer_.new_id(), result = type(function_.result);
    Ids types = {result}, given;
    for (const LibraryValue& each : function_.parameters) types.push_back(type(each));
    writer_.effect(spv::kFunction, {result, made, 0, writer_.type(spv::kTypeFunction, types)});
    for (const Id each : llvm::ArrayRef(types).drop_front()) {
      given.push_back(writer_.op(spv::kFunctionParameter, each, {}));
    }
    writer_.effect(spv::kLabel, {writer_.new_id()});
    const Id out = writer_.op(spv::kFunctionCall, own_type(function_.result), pass(given));
    if (function_.result.kind == Kind::kNone) {
      writer_.effect(spv::kReturn, {});
    } else {
      writer_.effect(spv::kReturnValue, {cast(function_.result, result, out)});
    }
    writer_.effect(spv::kFunctionEnd, {});
    return {made, result};
  }

 private:
  Id type(const LibraryValue& value) {
    if (value.kind == Kind::kNone) return writer_.void_type();
    if (value.kind == Kind::kBool) return writer_.bool_type();
    return value.kind == Kind::kFloat ? writer_.float_type(value.width) : writer_.int_type(value.width);
  }
  Id own_type(const LibraryValue& value) {
    return value.is_signed ? writer_.type(spv::kTypeInt, {value.width, 1}) : type(value);
  }
  Id passed_type(const LibraryValue& value) {
    return value.by_pointer ? writer_.pointer_type(spv::kFunctionClass, own_type(value)) : own_type(value);
  }
  Id cast(const LibraryValue& value, Id to, Id bits) {
    return value.is_signed ? writer_.op(spv::kBitcast, to, {bits}) : bits;
  }

  // The function, then what it is called with. Variables stand before everything else of a function.
  Ids pass(llvm::ArrayRef<Id> given) {
    Ids variables, operands = {imported_};
    for (const LibraryValue& each : function_.parameters) {
      variables.push_back(each.by_pointer ? writer_.op(spv::kVariable, passed_type(each), {spv::kFunctionClass}) : 0);
    }
    for (const auto& [value, variable, bits] : llvm::zip_equal(function_.parameters, variables, given)) {
      const Id own = cast(value, own_type(value), bits);
      if (variable != 0) writer_.effect(spv::kStore, {variable, own});
      operands.push_back(variable != 0 ? variable : own);
    }
    return operands;
  }

  SpirvWriter& writer_;
  const LibraryFunction& function_;
  Id imported_ = 0;
};

}  // namespace

std::string LibraryCalls::declare(mlir::ModuleOp kernels, llvm::ArrayRef<SpirvLibrary> libraries, SpirvWriter& writer) {
  std::vector<std::pair<std::string, Adapter>> adapters;
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>()) {
    const LibraryFunction* found = function.isExternal() ? find_function(libraries, function.getName()) : nullptr;
    if (!found) continue;
    if (std::string problem = check(*found, function.getFunctionType()); !problem.empty()) return problem;
    adapters.emplace_back(found->name, Adapter(writer, *found));
  }
  has_libraries_ = !adapters.empty();
  // Declarations stand before all functions that have a body.
  for (auto& [name, adapter] : adapters) adapter.declare();
  for (auto& [name, adapter] : adapters) callees_[name] = adapter.define();
  return {};
}

std::string LibraryCalls::declare_dynamic(mlir::ModuleOp kernels, const std::set<std::string>& imports,
                                          SpirvWriter& writer) {
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>()) {
    const auto import = imports.find(function.getName().str());
    if (!function.isExternal() || import == imports.end()) continue;
    if (mlir::SymbolTable::symbolKnownUseEmpty(function, kernels)) continue;
    const LLVM::LLVMFunctionType called = function.getFunctionType();
    Ids types = {type_of(called.getReturnType(), writer)};
    for (const mlir::Type each : called.getParams()) types.push_back(type_of(each, writer));
    if (llvm::is_contained(types, 0)) {
      std::string text = "Kernels call '" + *import + "' as ";
      llvm::raw_string_ostream stream(text);
      stream << called
             << "; a function that is found when the program is loaded takes and gives single values of 32 or 64 "
             << "bits, and addresses.";
      return text;
    }
    const Id made = writer.new_id();
    writer.effect(spv::kFunction, {types.front(), made, 0, writer.type(spv::kTypeFunction, types)});
    for (const Id each : llvm::ArrayRef(types).drop_front()) writer.op(spv::kFunctionParameter, each, {});
    writer.effect(spv::kFunctionEnd, {});
    writer.import(made, *import);
    callees_[*import] = {made, types.front()};
  }
  return {};
}

const LibraryCalls::Callee* LibraryCalls::find(llvm::StringRef name) const {
  const auto found = callees_.find(std::string_view(name));
  return found == callees_.end() ? nullptr : &found->second;
}

}  // namespace baton::compiler_lite::codegen::vulkan
