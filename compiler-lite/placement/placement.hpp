// Placement: where each tensor of a function is, and each work on tensors is done, in a program of several devices.
//
// The rules, the first that says something: work is where it, or what stands around it, says; where the first of its
// tensors is; on the first device of the program. What is made of constants and numbers alone is made wherever it is
// wanted: it floats. A tensor that goes from block to block, or round a loop, is where it is first. Calls are followed:
// a private function works where its callers' tensors are.
#pragma once

#include <map>
#include <string>

#include "compiler-lite/placement/devices.hpp"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace baton::compiler_lite::placement {

inline constexpr int kAnywhere = -1;

// With what a function is called.
struct Signature {
  llvm::SmallVector<int> arguments = {};  // The device of each.
  int inherited = kAnywhere;              // Of work that says nothing: the caller's word for its call.

  bool operator<(const Signature& other) const {
    return std::tie(inherited, arguments) < std::tie(other.inherited, other.arguments);
  }
};

// What is known of the whole program.
class PlacedProgram {
 public:
  PlacedProgram(mlir::ModuleOp module, llvm::StringMap<int> numbers) : symbols_(module), numbers_(std::move(numbers)) {}

  // kAnywhere for null.
  int number_of(mlir::Attribute affinity) const;
  // What arguments and results say of themselves.
  int number_in(mlir::DictionaryAttr attributes) const;
  // Of a global that holds a tensor.
  int of_global(llvm::StringRef name) const;

  mlir::FunctionOpInterface callee_of(mlir::Operation* call) const;
  // Where its results are; those of other modules are where they say, or on the first device.
  llvm::SmallVector<int> results_of(mlir::FunctionOpInterface callee, const Signature& signature);
  Signature signature_of(mlir::Operation* call, mlir::FunctionOpInterface callee,
                         llvm::function_ref<int(mlir::Value)> where, int inherited) const;

 private:
  struct Results {
    bool known = false;
    bool is_recursive = false;
    llvm::SmallVector<int> numbers = {};
  };
  mlir::SymbolTable symbols_;
  llvm::StringMap<int> numbers_;
  std::map<std::pair<mlir::Operation*, Signature>, Results> results_;
};

// A function of another module that records: work like any other.
bool is_command(mlir::FunctionOpInterface function);

class Placement {
 public:
  // Of a function, or of an initializer.
  Placement(PlacedProgram& program, mlir::Operation* function, const Signature& signature);

  int of(mlir::Value tensor) const;
  int of_work(mlir::Operation* op) const;
  // What the operation says, or what stands around it.
  int stated(mlir::Operation* op) const;
  // Where the function gives its results.
  llvm::SmallVector<int> results() const;

 private:
  void find();
  void visit(mlir::Region& region);
  void visit(mlir::Operation* op);
  void visit_work(mlir::Operation* op);
  void visit_call(mlir::Operation* op, mlir::FunctionOpInterface callee);
  // A tensor that is handed on lies somewhere: where it is used first.
  bool pin_one();
  void set(mlir::Value tensor, int number);

  PlacedProgram& program_;
  mlir::Operation* function_;
  int inherited_;
  llvm::DenseMap<mlir::Value, int> tensors_;
  llvm::DenseMap<mlir::Operation*, int> work_;
  llvm::DenseSet<mlir::Value> floating_;
  bool changed_ = false;
};

}  // namespace baton::compiler_lite::placement
