#include "compiler-lite/codegen/imports.hpp"

#include <algorithm>
#include <set>

#include "compiler-lite/codegen/explain.hpp"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen {
namespace {

// Calls of `declaration`, each with the function it stands in.
template <typename Visit>
void for_each_call(mlir::ModuleOp kernels, mlir::func::FuncOp declaration, Visit visit) {
  kernels.walk([&](mlir::func::CallOp call) {
    if (call.getCallee() == declaration.getSymName()) visit(call, call->getParentOfType<mlir::func::FuncOp>());
  });
}

const LoadedObject* object_with(llvm::ArrayRef<LoadedObject> objects, const std::string& symbol) {
  for (const LoadedObject& object : objects) {
    if (llvm::is_contained(object.defined, symbol)) return &object;
  }
  return nullptr;
}

void remove_body(mlir::func::FuncOp function) {
  for (mlir::Block& block : function.getBody()) block.dropAllReferences();
  function.getBody().getBlocks().clear();
  function.setPrivate();
}

constexpr llvm::StringLiteral kDynamic = "hal.import.dynamic", kOptional = "hal.import.optional",
                              kQuestion = "hal.import.question";

std::string table_symbol_of(mlir::func::FuncOp declaration) {
  return (declaration->hasAttr(kOptional) ? "?" : "") + import_symbol_of(declaration);
}

// By name; one that is also optional stands twice, the mark last.
struct SymbolOrder {
  bool operator()(const std::string& a, const std::string& b) const { return key(a) < key(b); }
  static std::pair<llvm::StringRef, bool> key(llvm::StringRef symbol) {
    const bool optional = symbol.consume_front("?");
    return {symbol, optional};
  }
};

std::vector<mlir::func::FuncOp> dynamic_with_bodies(mlir::ModuleOp kernels) {
  std::vector<mlir::func::FuncOp> found;
  for (auto function : kernels.getOps<mlir::func::FuncOp>()) {
    if (!function.isExternal() && function->hasAttr(kDynamic) && !is_static_import(function)) found.push_back(function);
  }
  return found;
}

void explain_dynamic(mlir::func::FuncOp function, std::string* explanation) {
  explain(explanation, function.getLoc(),
          "the function '" + import_symbol_of(function) + "' in '" +
              function->getParentOfType<mlir::ModuleOp>().getSymName().value_or("kernels").str() +
              "': what the runtime finds when the program is loaded, else its own body");
}

// A declaration like `function` under another name, with `mark`.
mlir::func::FuncOp declare(mlir::func::FuncOp function, const std::string& name, mlir::FunctionType type,
                           llvm::StringRef mark) {
  mlir::OpBuilder builder(function);
  auto declaration = builder.create<mlir::func::FuncOp>(function.getLoc(), name, type);
  declaration.setPrivate();
  for (const llvm::StringRef kept : {"hal.import.fields", "llvm.bareptr"}) {
    if (const mlir::Attribute value = function->getAttr(kept)) declaration->setAttr(kept, value);
  }
  declaration->setAttr("hal.import.name", builder.getStringAttr(import_symbol_of(function)));
  declaration->setAttr(kOptional, builder.getUnitAttr());
  if (!mark.empty()) declaration->setAttr(mark, builder.getUnitAttr());
  return declaration;
}

// The call becomes one of the import where it is there, else one of the body.
void choose(mlir::func::CallOp call, mlir::func::FuncOp question, mlir::func::FuncOp import) {
  mlir::OpBuilder builder(call);
  const mlir::Location location = call.getLoc();
  const mlir::Value there = builder.create<mlir::func::CallOp>(location, question).getResult(0);
  auto chosen = builder.create<mlir::scf::IfOp>(location, call.getResultTypes(), there, /*withElseRegion=*/true);
  const auto fill = [&](mlir::Region& region, llvm::StringRef callee) {
    mlir::OpBuilder inside = mlir::OpBuilder::atBlockBegin(&region.front());
    auto made =
        inside.create<mlir::func::CallOp>(location, callee, call.getResultTypes(), llvm::to_vector(call.getOperands()));
    if (call.getNumResults() > 0) inside.create<mlir::scf::YieldOp>(location, made.getResults());
  };
  fill(chosen.getThenRegion(), import.getSymName());
  fill(chosen.getElseRegion(), call.getCallee());
  call.replaceAllUsesWith(chosen.getResults());
  call.erase();
}

// What the body calls has a body too.
mlir::LogicalResult check_fallback(mlir::ModuleOp fallbacks, mlir::func::FuncOp function) {
  if (has_bare_pointers(function)) {
    return function.emitError("The function '")
           << function.getSymName() << "' has a body, and llvm.bareptr passes no sizes to it; leave that out.";
  }
  const mlir::WalkResult walked = function.walk([&](mlir::func::CallOp call) {
    auto callee = fallbacks.lookupSymbol<mlir::func::FuncOp>(call.getCallee());
    if (callee && !callee.isExternal()) return mlir::WalkResult::advance();
    call.emitError("The body of '") << function.getSymName() << "' calls '" << call.getCallee()
                                    << "', which has no body; what stands in for a missing function stands alone.";
    return mlir::WalkResult::interrupt();
  });
  return mlir::failure(walked.wasInterrupted());
}

}  // namespace

bool is_import_question(mlir::func::FuncOp declaration) { return declaration->hasAttr(kQuestion); }

bool is_optional_import(mlir::func::FuncOp declaration) { return declaration->hasAttr(kOptional); }

mlir::LogicalResult choose_when_loaded(mlir::ModuleOp kernels, std::string* explanation) {
  for (mlir::func::FuncOp function : dynamic_with_bodies(kernels)) {
    explain_dynamic(function, explanation);
    const std::string name = function.getSymName().str();
    std::vector<mlir::func::CallOp> calls;
    bool recurs = false;
    for_each_call(kernels, function, [&](mlir::func::CallOp call, mlir::func::FuncOp caller) {
      calls.push_back(call);
      recurs |= caller == function;
    });
    if (recurs) {
      return function.emitError("The body of '")
             << name << "' calls '" << name << "'; what stands in for a missing function becomes part of its callers, "
             << "and cannot call itself.";
    }
    const auto truth =
        mlir::FunctionType::get(kernels.getContext(), {}, {mlir::IntegerType::get(kernels.getContext(), 1)});
    mlir::func::FuncOp question = declare(function, name + ".is_there", truth, kQuestion);
    mlir::func::FuncOp import = declare(function, name + ".import", function.getFunctionType(), {});
    for (mlir::func::CallOp call : calls) choose(call, question, import);
    function->removeAttr(kDynamic);
    function.setPrivate();
  }
  return mlir::success();
}

mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> take_fallbacks(mlir::ModuleOp kernels, std::string* explanation) {
  mlir::OwningOpRef<mlir::ModuleOp> fallbacks;
  const std::vector<mlir::func::FuncOp> dynamic = dynamic_with_bodies(kernels);
  if (dynamic.empty()) return fallbacks;
  fallbacks = mlir::ModuleOp::create(kernels.getLoc());
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(fallbacks->getBody());
  // Private functions come along: bodies may call them.
  for (auto function : kernels.getOps<mlir::func::FuncOp>()) {
    if (!function.isExternal() && function.isPrivate()) builder.clone(*function);
  }
  for (mlir::func::FuncOp function : dynamic) {
    explain_dynamic(function, explanation);
    auto body = fallbacks->lookupSymbol<mlir::func::FuncOp>(function.getSymName());
    if (!body) {
      builder.clone(*function);
      body = fallbacks->lookupSymbol<mlir::func::FuncOp>(function.getSymName());
    }
    if (mlir::failed(check_fallback(*fallbacks, body))) return mlir::failure();
    body.setPublic();
    remove_body(function);
  }
  for (mlir::func::FuncOp function : dynamic) {
    auto body = fallbacks->lookupSymbol<mlir::func::FuncOp>(function.getSymName());
    const auto symbol = mlir::StringAttr::get(kernels.getContext(), import_symbol_of(function));
    if (mlir::failed(mlir::SymbolTable::replaceAllSymbolUses(body, symbol, *fallbacks))) return mlir::failure();
    body.setSymNameAttr(symbol);
    for (const llvm::StringRef mark : {"hal.import.name", "hal.import.dynamic", "hal.import.fields"}) {
      body->removeAttr(mark);
    }
  }
  return fallbacks;
}

bool is_static_import(mlir::func::FuncOp declaration) {
  return declaration->hasAttr("hal.import.static") || declaration->hasAttr("hal.import.bitcode");
}

bool has_bare_pointers(mlir::func::FuncOp declaration) { return declaration->hasAttr("llvm.bareptr"); }

std::string import_symbol_of(mlir::func::FuncOp declaration) {
  const auto name = declaration->getAttrOfType<mlir::StringAttr>("hal.import.name");
  return name ? name.getValue().str() : declaration.getSymName().str();
}

unsigned ImportTable::ordinal_of(mlir::func::FuncOp declaration) const {
  const std::string symbol = table_symbol_of(declaration);
  return static_cast<unsigned>(std::lower_bound(symbols.begin(), symbols.end(), symbol, SymbolOrder()) -
                               symbols.begin());
}

ImportTable collect_imports(mlir::ModuleOp kernels) {
  std::set<std::string, SymbolOrder> symbols;
  for (auto function : kernels.getOps<mlir::func::FuncOp>()) {
    if (!function.isExternal() || is_static_import(function)) continue;
    for_each_call(kernels, function, [&](auto, auto) { symbols.insert(table_symbol_of(function)); });
  }
  return {{symbols.begin(), symbols.end()}};
}

bool may_be_defined(llvm::ArrayRef<LoadedObject> objects, llvm::StringRef symbol) {
  return llvm::any_of(objects, [&](const LoadedObject& object) {
    return object.is_opaque || llvm::is_contained(object.defined, symbol.str());
  });
}

std::vector<mlir::func::FuncOp> optional_imports(mlir::ModuleOp kernels) {
  std::vector<mlir::func::FuncOp> optional;
  for (auto function : kernels.getOps<mlir::func::FuncOp>()) {
    if (!function.isExternal() && is_static_import(function)) optional.push_back(function);
  }
  return optional;
}

void settle_fallbacks(mlir::ModuleOp kernels, llvm::ArrayRef<LoadedObject> objects, std::string* explanation) {
  for (auto function : kernels.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal() || !is_static_import(function)) continue;
    const std::string symbol = import_symbol_of(function);
    const LoadedObject* object = object_with(objects, symbol);
    explain(explanation, function.getLoc(),
            "the function '" + symbol + "' in '" + kernels.getSymName().value_or("kernels").str() + "': " +
                (object ? "linked from '" + object->path + "'"
                        : "its own body, because no object defines it (" + describe(objects) + ")"));
    if (object) {
      remove_body(function);
    } else {
      function->removeAttr("hal.import.static");
      function->removeAttr("hal.import.bitcode");
      function.setPrivate();
    }
  }
}

mlir::LogicalResult check_static_imports(mlir::ModuleOp kernels, llvm::ArrayRef<LoadedObject> objects) {
  bool good = true;
  for (auto function : kernels.getOps<mlir::func::FuncOp>()) {
    if (!function.isExternal() || !is_static_import(function)) continue;
    const std::string symbol = import_symbol_of(function);
    if (may_be_defined(objects, symbol)) continue;
    for_each_call(kernels, function, [&](mlir::func::CallOp call, mlir::func::FuncOp kernel) {
      good = false;
      mlir::emitError(call.getLoc(), "The kernel '")
          << kernel.getSymName() << "' calls '" << symbol << "', which no object defines; "
          << describe_without(objects, symbol);
    });
  }
  return mlir::success(good);
}

mlir::LogicalResult rename_declarations(mlir::ModuleOp kernels) {
  for (auto function : kernels.getOps<mlir::func::FuncOp>()) {
    if (!function.isExternal()) continue;
    const mlir::StringAttr symbol = mlir::StringAttr::get(kernels.getContext(), import_symbol_of(function));
    const auto name = mlir::StringAttr::get(kernels.getContext(), "declared." + function.getSymName());
    if (mlir::failed(mlir::SymbolTable::replaceAllSymbolUses(function, name, kernels))) return mlir::failure();
    function.setSymNameAttr(name);
    function->setAttr("hal.import.name", symbol);
  }
  return mlir::success();
}

void erase_declarations(mlir::ModuleOp kernels) {
  for (mlir::func::FuncOp function : llvm::SmallVector<mlir::func::FuncOp>(kernels.getOps<mlir::func::FuncOp>())) {
    if (function.isExternal()) function.erase();
  }
}

}  // namespace baton::compiler_lite::codegen
