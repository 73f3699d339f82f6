// Division: a dimension along which a loop's turns keep elements apart.
//
// What a loop carries for one item of a batch is often computed from what it carries for the same item alone. Then workgroups
// do all turns of a range of items each, and none waits for another.
#pragma once

#include <optional>
#include <utility>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace baton::compiler_lite::schedule {

class Division {
 public:
  // Along a dimension of a tensor that the loop reads or carries; nothing where its turns join what lies along it.
  static std::optional<Division> find(mlir::LoopLikeOpInterface loop, mlir::Value tensor, unsigned dimension);

  int64_t size() const { return size_; }
  // Which one it is of a tensor; nothing where all items have the same.
  std::optional<unsigned> dimension_of(mlir::Value value) const;
  bool is_dimension(mlir::Value value, unsigned dimension) const { return dimension_of(value) == dimension; }

  // `values` say what became of the loop's operations in a copy, whose operands are items from `first` on already; the rest of the
  // copy becomes one for `length` items.
  void narrow(const mlir::IRMapping& values, mlir::Value first, int64_t length) const;

 private:
  using Place = std::pair<void*, unsigned>;  // A dimension of a value, or a loop of an operation.

  explicit Division(mlir::LoopLikeOpInterface loop) : loop_(loop) {}

  static Place place(mlir::Value value, unsigned dimension) { return {value.getAsOpaquePointer(), dimension}; }
  static Place place(mlir::Operation* op, unsigned loop) { return {op, loop}; }
  void connect(mlir::Value a, unsigned i, mlir::Value b, unsigned j) { same_.unionSets(place(a, i), place(b, j)); }
  void connect_all(mlir::Value a, mlir::Value b);
  void connect_lists(mlir::ValueRange a, mlir::ValueRange b);
  void connect(mlir::Operation* op);
  void connect(mlir::linalg::LinalgOp op);
  bool connect_regions(mlir::Operation* op);

  bool choose(mlir::Value tensor, unsigned dimension);
  bool keeps_apart(mlir::Operation* op) const;
  bool keeps_apart(mlir::linalg::LinalgOp op) const;
  bool has_whole(mlir::Value whole, mlir::OffsetSizeAndStrideOpInterface slice) const;

  void narrow(mlir::Operation* op, mlir::Operation* copy, mlir::Value first, int64_t length) const;
  void narrow_indices(mlir::linalg::LinalgOp op, mlir::linalg::LinalgOp copy, mlir::Value first) const;

  mlir::LoopLikeOpInterface loop_;
  llvm::EquivalenceClasses<Place> same_;
  int64_t size_ = 0;
  llvm::DenseMap<mlir::Value, unsigned> dimensions_;
  llvm::DenseMap<mlir::Operation*, unsigned> loops_;
};

}  // namespace baton::compiler_lite::schedule
