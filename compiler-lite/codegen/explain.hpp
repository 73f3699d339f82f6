// For --explain: a line for each choice of the compiler that a user may want to know about.
#pragma once

#include <string>

#include "mlir/IR/Location.h"

namespace baton::compiler_lite {

// Adds "file:line:column: <line>"; nothing without an `explanation`.
void explain(std::string* explanation, mlir::Location location, const std::string& line);

}  // namespace baton::compiler_lite
