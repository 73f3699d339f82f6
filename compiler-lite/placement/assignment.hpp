// Assignment: the device of each tensor and each command, of a program whose transfers are written and whose work is
// dispatches. What is made of constants alone is made anew on each device that wants it.
//
// Where it stands: the last step before tensors become memory. Steps between place() and this one know nothing of
// devices; they keep transfers, because they don't know them, and so what is between two transfers stays together.
#pragma once

#include "compiler-lite/placement/devices.hpp"
#include "llvm/ADT/DenseMap.h"

namespace baton::compiler_lite::placement {

class Assignment {
 public:
  // Of a program on one device: everything is there.
  Assignment() = default;

  unsigned of(mlir::Value tensor) const { return tensors_.lookup(tensor); }
  // Of the tensors that it has; the first device for one without.
  unsigned of(mlir::Operation* op) const;

 private:
  friend mlir::FailureOr<Assignment> assign(mlir::ModuleOp module, const Devices& devices);
  llvm::DenseMap<mlir::Value, unsigned> tensors_;
};

// An error where one tensor would have to be on two devices.
mlir::FailureOr<Assignment> assign(mlir::ModuleOp module, const Devices& devices);

}  // namespace baton::compiler_lite::placement
