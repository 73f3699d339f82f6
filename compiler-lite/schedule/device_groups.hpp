// Groups of operations for each device: those of devices that take other code are a module of their own, which is
// compiled for these devices alone.
#pragma once

#include "compiler-lite/placement/assignment.hpp"
#include "compiler-lite/schedule/schedule.hpp"
#include "llvm/ADT/StringMap.h"

namespace baton::compiler_lite::schedule {

// What code is made for on one of several devices: what the program says of it, else what the options say of its kinds,
// else what is usual there; all that the program is made for where it may be of any kind.
std::vector<hal::ExecutableTargetAttr> targets_of_device(mlir::ModuleOp program, const placement::NamedDevice& device,
                                                         const ScheduleOptions& options);

// Dispatches of a device name groups of a module for its targets.
void split_groups(mlir::ModuleOp program, const placement::Devices& devices, const placement::Assignment& assignment,
                  const ScheduleOptions& options);

// All modules of groups, of whichever device.
llvm::SmallVector<mlir::ModuleOp> group_modules(mlir::ModuleOp program);
// Those that a module of groups is compiled for; `otherwise` where it doesn't say.
std::vector<hal::ExecutableTargetAttr> targets_of_groups(mlir::ModuleOp groups,
                                                         const std::vector<hal::ExecutableTargetAttr>& otherwise);

// The devices that each executable is used on, by its name.
using ExecutableUses = llvm::StringMap<llvm::SmallVector<unsigned>>;
ExecutableUses uses_of_executables(mlir::ModuleOp program, const placement::Assignment& assignment);

}  // namespace baton::compiler_lite::schedule
