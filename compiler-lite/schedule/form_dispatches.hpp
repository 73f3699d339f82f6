// form_dispatches: tensor operations become groups that one kernel computes, and dispatches of them.
//
// A group is a func.func in the nested module @dispatch_groups; its dispatch is `flow.dispatch
// @dispatch_groups::@name(...)` with what the group takes: tensors and scalars in the order in which they are first
// used.
#pragma once

#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

inline constexpr llvm::StringLiteral kGroupModule = "dispatch_groups";

// Where groups stand: made when it is first asked for.
mlir::ModuleOp group_module(mlir::ModuleOp module);
// What dispatches call a group there by.
mlir::SymbolRefAttr group_symbol(mlir::StringAttr name);
// By which groups are told apart before they have names of their own.
std::string group_text(mlir::func::FuncOp group);
// Names of groups, each once: equal groups have one.
class GroupNames {
 public:
  // The symbol of `group`, which gets the name that `name` makes of the number of those before it; of an equal one where
  // there is one, and then it is gone.
  mlir::SymbolRefAttr intern(mlir::func::FuncOp group, llvm::function_ref<std::string(size_t)> name);

 private:
  llvm::StringMap<std::string> names_;  // By text.
};
// The sizes of a tensor that are open, behind those in `sizes`.
void add_sizes(mlir::OpBuilder& builder, mlir::Value value, llvm::SmallVectorImpl<mlir::Value>& sizes);
// What kernels are called by: other characters become underscores.
std::string symbol_name(llvm::StringRef name);

// `on_blocks`: all workgroups are blocks of threads.
mlir::LogicalResult form_dispatches(mlir::ModuleOp module, bool on_blocks);

}  // namespace baton::compiler_lite::schedule
