// Executables as the program holds them: rows of the module's table, and the part of the initializer that loads them,
// with what conditions and constant blocks say on the device.
#pragma once

#include "compiler-lite/schedule/executable.hpp"
#include "compiler-lite/schedule/hal_calls.hpp"

namespace baton::compiler_lite {

// Declares the globals of executables and entry points, and fills them in the initializer.
void load_executables(mlir::ModuleOp program, const Executables& executables, mlir::OpBuilder& initializer,
                      HalCalls& hal, mlir::Value device);

// The rows, at the beginning of the program.
void write_rows(mlir::ModuleOp program, const Executables& executables);

}  // namespace baton::compiler_lite
