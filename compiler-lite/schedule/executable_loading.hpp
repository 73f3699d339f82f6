// Executables as the program holds them: rows of the module's table, and the part of the initializer that loads them,
// with what conditions and constant blocks say on the device.
#pragma once

#include "compiler-lite/dialects/hal_calls.hpp"
#include "compiler-lite/schedule/device_groups.hpp"
#include "compiler-lite/schedule/executable.hpp"

namespace baton::compiler_lite::schedule {

struct LoadingDevice {
  unsigned number = 0;
  mlir::Value device;
};

// Declares the globals of executables and entry points that are used on a device, and fills them in the initializer. An
// executable that no dispatch uses is loaded on the first device.
void load_executables(mlir::ModuleOp program, const Executables& executables, const ExecutableUses& uses,
                      mlir::OpBuilder& initializer, HalCalls& hal, const LoadingDevice& device);

// The rows, at the beginning of the program.
void write_rows(mlir::ModuleOp program, const Executables& executables);

}  // namespace baton::compiler_lite::schedule
