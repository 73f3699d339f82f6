// What kernels call and do not define: C functions of linked objects (static), and functions that the runtime finds
// when the executable is loaded (dynamic). Which of them a declaration is, its attributes say:
//
//   hal.import.static, hal.import.bitcode  a plain C call
//   neither                                a dynamic import, called through a struct of results, arguments and fields
//   hal.import.fields = [...]              what is appended to that struct
//   hal.import.name = "..."                the symbol, where it is not the declaration's name
//
// A static import with a body is optional: the body is taken where no object defines the symbol. A dynamic import with
// a body (hal.import.dynamic says that it is one) is optional too: the body is taken where the runtime finds nothing.
#pragma once

#include <string>
#include <vector>

#include "compiler-lite/codegen/user_objects.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace baton::compiler_lite::codegen {

bool is_static_import(mlir::func::FuncOp declaration);
bool has_bare_pointers(mlir::func::FuncOp declaration);
std::string import_symbol_of(mlir::func::FuncOp declaration);

// Symbols of the dynamic imports, sorted: the place in it is the ordinal in the library's table. '?' stands before one
// that is optional, and counts for nothing in the order.
struct ImportTable {
  std::vector<std::string> symbols;
  unsigned ordinal_of(mlir::func::FuncOp declaration) const;
};
ImportTable collect_imports(mlir::ModuleOp kernels);

// True for a symbol that one of `objects` defines, or may define.
bool may_be_defined(llvm::ArrayRef<LoadedObject> objects, llvm::StringRef symbol);

// Static imports that have a body.
std::vector<mlir::func::FuncOp> optional_imports(mlir::ModuleOp kernels);
// Optional static imports that `objects` define lose their bodies; the others become functions like any. `explanation`,
// where there is one, gets a line for each that is called.
void settle_fallbacks(mlir::ModuleOp kernels, llvm::ArrayRef<LoadedObject> objects, std::string* explanation);

// For targets that look a function up when a program is loaded: each call of an optional dynamic import becomes a choice
// between the import and its body. `explanation` as above.
mlir::LogicalResult choose_when_loaded(mlir::ModuleOp kernels, std::string* explanation);
// Whether a declaration stands for the question if an optional import is there: a call of it gives an i1.
bool is_import_question(mlir::func::FuncOp declaration);
// Whether it is the import of such a choice: called where it is there.
bool is_optional_import(mlir::func::FuncOp declaration);

// For targets whose linker chooses: moves the bodies of optional dynamic imports, with the symbols as their names, to a
// module of their own, and leaves declarations. Null when there are none; a failure for a body that cannot stand alone.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> take_fallbacks(mlir::ModuleOp kernels, std::string* explanation);

// Every static import has to be defined by an object; a message names the kernel for each that is not.
mlir::LogicalResult check_static_imports(mlir::ModuleOp kernels, llvm::ArrayRef<LoadedObject> objects);

// Declarations make room for LLVM's declarations of the same symbols.
mlir::LogicalResult rename_declarations(mlir::ModuleOp kernels);
// Once calls are made through LLVM's declarations.
void erase_declarations(mlir::ModuleOp kernels);

}  // namespace baton::compiler_lite::codegen
