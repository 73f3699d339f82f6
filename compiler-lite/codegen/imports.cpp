#include "compiler-lite/codegen/imports.hpp"

#include <algorithm>
#include <set>

#include "compiler-lite/codegen/explain.hpp"

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

}  // namespace

bool is_static_import(mlir::func::FuncOp declaration) {
  return declaration->hasAttr("hal.import.static") || declaration->hasAttr("hal.import.bitcode");
}

bool has_bare_pointers(mlir::func::FuncOp declaration) { return declaration->hasAttr("llvm.bareptr"); }

std::string import_symbol_of(mlir::func::FuncOp declaration) {
  const auto name = declaration->getAttrOfType<mlir::StringAttr>("hal.import.name");
  return name ? name.getValue().str() : declaration.getSymName().str();
}

unsigned ImportTable::ordinal_of(llvm::StringRef symbol) const {
  return static_cast<unsigned>(std::lower_bound(symbols.begin(), symbols.end(), symbol) - symbols.begin());
}

ImportTable collect_imports(mlir::ModuleOp kernels) {
  std::set<std::string> symbols;
  for (auto function : kernels.getOps<mlir::func::FuncOp>()) {
    if (!function.isExternal() || is_static_import(function)) continue;
    for_each_call(kernels, function, [&](auto, auto) { symbols.insert(import_symbol_of(function)); });
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
          << kernel.getSymName() << "' calls '" << symbol << "', which no object defines; " << describe(objects) << ".";
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
