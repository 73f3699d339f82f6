#include "compiler-lite/codegen/gpu/wide_reads.hpp"

#include "compiler-lite/codegen/gpu/accesses.hpp"
#include "compiler-lite/codegen/gpu/vectors.hpp"
#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace baton::compiler_lite::codegen::gpu {

namespace arith = mlir::arith;
using mlir::OpBuilder;
using mlir::Value;

WideReads::WideReads(mlir::linalg::GenericOp op, unsigned loop) : op_(op), location_(op.getLoc()), loop_(loop) {
  int64_t widest = 0;
  for (mlir::OpOperand* input : op.getDpsInputOperands()) {
    if (step_of(op, *input, loop) == Step::kElsewhere) return;
    if (!goes_along(*input)) continue;
    widest = std::max(widest, stored_bytes(mlir::getElementTypeOrSelf(input->get().getType())));
  }
  if (widest != 0) lanes_ = std::max<int64_t>(1, kAccessBytes / widest);
}

bool WideReads::goes_along(mlir::OpOperand& input) const { return step_of(op_, input, loop_) == Step::kNext; }

Value WideReads::are_aligned(OpBuilder& builder) const {
  const Value zero = make_i64(builder, location_, 0);
  Value rest = zero;
  for (mlir::OpOperand* input : op_.getDpsInputOperands()) {
    if (!goes_along(*input)) continue;
    const Memory memory = open_memory(builder, location_, input->get());
    const Value bits = unaligned_bits(builder, location_, memory, lanes_ * stored_bytes(memory.element));
    rest = builder.create<mlir::LLVM::OrOp>(location_, rest, bits);
  }
  return builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, rest, zero);
}

llvm::SmallVector<Values> WideReads::load(OpBuilder& builder, const Values& point) const {
  llvm::SmallVector<Values> loaded;
  for (mlir::OpOperand* input : op_.getDpsInputOperands()) {
    if (goes_along(*input)) {
      const Memory memory = open_memory(builder, location_, input->get());
      const Value address = address_of(builder, location_, memory, indices(builder, op_, *input, point));
      loaded.push_back(load_elements(builder, location_, memory, address, lanes_));
    } else {
      loaded.emplace_back(static_cast<size_t>(lanes_), gpu::load(builder, op_, *input, point));
    }
  }
  return loaded;
}

Values WideReads::compute(OpBuilder& builder, Values point, int64_t lane, llvm::ArrayRef<Values> loaded,
                          mlir::ValueRange outs) const {
  const Value distance = builder.create<arith::ConstantIndexOp>(location_, lane);
  point[loop_] = builder.createOrFold<arith::AddIOp>(location_, point[loop_], distance);
  Values operands;
  for (const Values& lanes : loaded) operands.push_back(lanes[static_cast<size_t>(lane)]);
  llvm::append_range(operands, outs);
  return gpu::compute(builder, op_, point, operands);
}

}  // namespace baton::compiler_lite::codegen::gpu
