// make_subspan_descriptor: a binding as a memref in LLVM's terms, around the binding's pointer.
#pragma once

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/Builders.h"

namespace baton::compiler_lite::codegen {

// The memref that `subspan` (hal.interface.binding.subspan) gives, for a binding that begins at `pointer`. The byte
// offset goes where the type has room for it: into the descriptor's offset when that is dynamic, so that user functions
// see it, else into the pointer.
mlir::Value make_subspan_descriptor(mlir::OpBuilder& builder, mlir::Operation* subspan, mlir::Value pointer,
                                    const mlir::LLVMTypeConverter& types);

}  // namespace baton::compiler_lite::codegen
