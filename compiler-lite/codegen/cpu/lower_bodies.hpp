// lower_bodies: kernels on memrefs as code of one thread: products as tiled and packed vector code (product.hpp), what is
// read along columns turned round in registers (turned_blocks.hpp), everything else as loops for LLVM's vectorizer
// (loops.hpp, split_loops.hpp), and a place for what is allocated (temporaries.hpp).
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen::cpu {

struct BodyOptions {
  unsigned vector_bytes = 16;
  unsigned vector_registers = 16;
  bool has_pair_sums = false;  // x86's pmaddwd.
};

// After lower_to_buffers.
mlir::LogicalResult lower_bodies(mlir::ModuleOp kernels, const BodyOptions& options);

}  // namespace baton::compiler_lite::codegen::cpu
