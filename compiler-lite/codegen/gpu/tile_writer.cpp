#include "compiler-lite/codegen/gpu/tile_writer.hpp"

#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace baton::compiler_lite::codegen::gpu {

namespace LLVM = mlir::LLVM;
using mlir::Value;

Value TileWriter::unaligned_bits_of(mlir::ValueRange strides, int64_t element_bytes, int64_t bytes) {
  Value bits = make_i64(builder_, location_, 0);
  for (const Value stride : strides) {
    const Value moved =
        builder_.create<LLVM::MulOp>(location_, cast(builder_, location_, stride, builder_.getI64Type()),
                                     make_i64(builder_, location_, element_bytes));
    bits = builder_.create<LLVM::OrOp>(location_, bits, moved);
  }
  return builder_.create<LLVM::AndOp>(location_, bits, make_i64(builder_, location_, bytes - 1));
}

}  // namespace baton::compiler_lite::codegen::gpu
