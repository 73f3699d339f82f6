// place: what a program says of devices → transfers between them.
//
// A program that means one device, however often it says so, works on the first that its host gives it. One that means
// several works on each of them: see placement.hpp. What cannot be done is refused where it stands, never left out.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::placement {

// First of all steps: later ones don't keep what operations say. A program that was placed stays as it is.
mlir::LogicalResult place(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::placement
