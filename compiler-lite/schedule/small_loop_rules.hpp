// SmallLoopRules: which loops over tensors are one kernel's work.
//
// A command costs the host and the device about a microsecond, so a loop whose operations take less than that each is
// faster as a kernel of one workgroup, turns and all. Such a loop has tensors of known sizes only, no operation of
// the host or of another module, none that is worth dividing among workgroups, and indices of which it is known that they
// lie inside: a kernel can't fail.
//
// A core makes one step after the other. A block of threads makes many at once, but all threads wait for each other
// behind each operation.
#pragma once

#include <memory>
#include <optional>

#include "compiler-lite/schedule/on_cores.hpp"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace baton::compiler_lite::schedule {

class SmallLoopRules {
 public:
  // Of the loops in `function`, which such workgroups run.
  SmallLoopRules(mlir::Operation* function, Workgroups workgroups) : function_(function), workgroups_(workgroups) {}
  // The same of a part of such loops that is one of many, and of whose indices it is known already that they lie inside.
  static SmallLoopRules of_parts(mlir::Operation* function, Workgroups workgroups);

  // Whether it is a matter of milliseconds to look at the loop's operations, again and again.
  static bool is_short(mlir::Operation* loop);
  // How many instructions one after the other a turn takes, more or less, where that is known and the loop is a small one.
  std::optional<double> steps_of_turn(mlir::LoopLikeOpInterface loop);
  // Whether all indices in the loop lie inside.
  bool has_all_inside(mlir::LoopLikeOpInterface loop);

 private:
  std::optional<double> steps_of_block(mlir::Block& block);
  std::optional<double> steps_of(mlir::Operation* op);
  // Of an operation that makes so many; nothing where that is work for more than one workgroup.
  std::optional<double> steps_in_workgroup(double steps) const;
  bool has_indices_inside(mlir::Operation* op);
  // `index` + `behind` < `size`, and `index` is not negative.
  bool is_inside(mlir::OpFoldResult index, int64_t behind, int64_t size);

  mlir::Operation* function_;
  Workgroups workgroups_;
  bool are_parts_ = false;
  std::unique_ptr<mlir::DataFlowSolver> ranges_;
};

}  // namespace baton::compiler_lite::schedule
