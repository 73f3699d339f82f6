// schedule: from tensors to a host program that records and executes device work.
//
// Where it stands: after the ABI wrapped exports and imports (hal.tensor.import, export and barrier at the edges),
// before the host side is lowered to the VM. Beyond it no tensor is left: util.funcs over scalars and references call
// imports of the module `hal`, and the bytes of executables and constants are util.buffer.constant.
//
// What it does with a function, in order: normalize (inline, fuse), form_dispatches (groups become kernels),
// Executables (kernels become bytes), FunctionScheduler (commands become recordings, sizes become a memory plan).
#pragma once

#include <string>
#include <vector>

#include "compiler-lite/codegen/target.hpp"
#include "compiler-lite/schedule/libraries.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class DialectRegistry;
}

namespace baton::compiler_lite::schedule {

struct ScheduleOptions {
  // What executables are made for; empty: as the module's hal.device.targets say, else for the first target of the
  // list.
  std::vector<hal::ExecutableTargetAttr> targets = {};
  codegen::TargetSettings settings = {};
  // When set, gets recordings, bindings, memory plans and barriers as text.
  std::string* dump = nullptr;
};

// Dialects and interfaces that scheduling makes and uses; load them before.
void register_schedule(mlir::DialectRegistry& registry);

mlir::LogicalResult schedule(mlir::ModuleOp module, const ScheduleOptions& options);

// Functions in two forms, as cores or blocks of threads want them (on_cores.hpp): first of all.
mlir::LogicalResult choose_functions(mlir::ModuleOp module, const ScheduleOptions& options);

// Its parts, in order: dispatches that stand in place outlined, functions inlined and fused; groups as dispatches of
// functions on tensors; the rest.
mlir::LogicalResult normalize_program(mlir::ModuleOp module, const ScheduleOptions& options);
mlir::LogicalResult create_dispatches(mlir::ModuleOp module, const ScheduleOptions& options,
                                      const LibraryOptions& libraries = {});
mlir::LogicalResult schedule_dispatches(mlir::ModuleOp module, const ScheduleOptions& options);

// For people, between the second and the third: the groups as kernels with bindings and constants.
mlir::LogicalResult show_kernels(mlir::ModuleOp module);

// What schedule() would do, as text; the module stays as it is.
mlir::FailureOr<std::string> dump_schedule(mlir::ModuleOp module, ScheduleOptions options);

// The passes --form-dispatches and --schedule of baton-opt.
void register_schedule_passes();

}  // namespace baton::compiler_lite::schedule
