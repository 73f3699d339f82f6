// What kernels call and do not define: C functions of linked objects (static), and functions that the runtime finds
// when the executable is loaded (dynamic). Which of them a declaration is, its attributes say:
//
//   hal.import.static, hal.import.bitcode  a plain C call
//   neither                                a dynamic import, called through a struct of results, arguments and fields
//   hal.import.fields = [...]              what is appended to that struct
//   hal.import.name = "..."                the symbol, where it is not the declaration's name
//
// A static import with a body is optional: the body is taken where no object defines the symbol.
#pragma once

#include <string>
#include <vector>

#include "compiler-lite/codegen/user_objects.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen {

bool is_static_import(mlir::func::FuncOp declaration);
bool has_bare_pointers(mlir::func::FuncOp declaration);
std::string import_symbol_of(mlir::func::FuncOp declaration);

// Symbols of the dynamic imports, sorted: the place in it is the ordinal in the library's table.
struct ImportTable {
  std::vector<std::string> symbols;
  unsigned ordinal_of(llvm::StringRef symbol) const;
};
ImportTable collect_imports(mlir::ModuleOp kernels);

// True for a symbol that one of `objects` defines, or may define.
bool may_be_defined(llvm::ArrayRef<LoadedObject> objects, llvm::StringRef symbol);

// Static imports that have a body.
std::vector<mlir::func::FuncOp> optional_imports(mlir::ModuleOp kernels);
// Optional static imports that `objects` define lose their bodies; the others become functions like any. `explanation`,
// where there is one, gets a line for each that is called.
void settle_fallbacks(mlir::ModuleOp kernels, llvm::ArrayRef<LoadedObject> objects, std::string* explanation);

// Every static import has to be defined by an object; a message names the kernel for each that is not.
mlir::LogicalResult check_static_imports(mlir::ModuleOp kernels, llvm::ArrayRef<LoadedObject> objects);

// Declarations make room for LLVM's declarations of the same symbols.
mlir::LogicalResult rename_declarations(mlir::ModuleOp kernels);
// Once calls are made through LLVM's declarations.
void erase_declarations(mlir::ModuleOp kernels);

}  // namespace baton::compiler_lite::codegen
