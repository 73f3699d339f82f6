// Everything in a program that can be dispatched, as executables: groups of form_dispatches, stream.executable,
// hal.executable.source, hal.executable. One that has neither code nor objects is looked up by name in what the host
// registered.
#pragma once

#include "compiler-lite/schedule/executable.hpp"
#include "compiler-lite/schedule/schedule.hpp"

namespace baton::compiler_lite::schedule {

// What the options say, else the program, else the first target there is.
std::vector<hal::ExecutableTargetAttr> program_targets(mlir::ModuleOp program, const ScheduleOptions& options);
// The same; those of all its devices where a program names several.
std::vector<hal::ExecutableTargetAttr> find_targets(mlir::ModuleOp program, const ScheduleOptions& options);

// Compiles all for the targets of the options, of the program, or of this machine; or fails with messages.
mlir::LogicalResult compile_executables(mlir::ModuleOp program, const ScheduleOptions& options,
                                        Executables& executables);

// Erases the sources once every dispatch is scheduled; entry points have no workgroup_count afterwards.
void erase_sources(mlir::ModuleOp program, const Executables& executables);

}  // namespace baton::compiler_lite::schedule
