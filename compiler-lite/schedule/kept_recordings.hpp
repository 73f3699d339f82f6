// Recordings that depend on what a call brings, sizes above all: the last few are kept, and a call that brings the same
// again executes one of them instead of recording.
#pragma once

#include "compiler-lite/schedule/program.hpp"
#include "compiler-lite/schedule/recording.hpp"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace baton::compiler_lite::schedule {

// The scalars of the function that everything in the recording is computed from; nothing when it depends on something
// that can't be compared, or on very much.
std::optional<llvm::SmallVector<mlir::Value>> find_keys(const Recording& recording,
                                                        llvm::ArrayRef<mlir::Value> region_offsets);

// Gives a !hal.recording: a kept one with the same keys, else the one that `record` makes, which it then keeps.
mlir::Value write_kept_recording(mlir::OpBuilder& builder, Program& program, mlir::Location location,
                                 llvm::StringRef name, llvm::ArrayRef<mlir::Value> keys,
                                 llvm::function_ref<mlir::Value()> record);

}  // namespace baton::compiler_lite::schedule
