#include "compiler-lite/codegen/cuda/rows_of_sums.hpp"

#include "compiler-lite/codegen/gpu/slice_steps.hpp"
#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace baton::compiler_lite::codegen::cuda {

namespace arith = mlir::arith;
namespace NVVM = mlir::NVVM;
using gpu::Values;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

int64_t neighbours_written(const Product& product) {
  constexpr int64_t kSmallBytes = 2;
  constexpr int64_t kFewSteps = 256;  // After more of them exchanging takes longer than memory gains.
  if (gpu::SliceSteps::steps_of(product) > kFewSteps) return kNeighbours;
  mlir::linalg::GenericOp last = product.last;
  const Values results = last ? Values(last.getDpsInits()) : Values{product.c};
  for (const Value result : results) {
    if (gpu::stored_bytes(mlir::getElementTypeOrSelf(result.getType())) > kSmallBytes) return kNeighbours;
  }
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  const auto type = llvm::cast<mlir::MemRefType>(product.c.getType());
  const bool is_known = mlir::succeeded(mlir::getStridesAndOffset(type, strides, offset)) &&
                        !mlir::ShapedType::isDynamic(strides.front()) && strides.back() == 1;
  return is_known && strides.front() % kManyNeighbours == 0 ? kManyNeighbours : kNeighbours;
}

// In two rounds: threads beside each other, then pairs of threads, give what the other one's eights are made of.
Values exchange_sums(OpBuilder& builder, Location location, Value lane, ValueRange sums) {
  Values held(sums);
  for (const int64_t distance : {1, 2}) {
    const Value bit =
        builder.create<arith::AndIOp>(location, lane, builder.create<arith::ConstantIndexOp>(location, distance));
    const Value is_upper = builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::ne, bit,
                                                         builder.create<arith::ConstantIndexOp>(location, 0));
    const auto pick = [&](Value of_upper, Value of_lower) {
      return builder.create<arith::SelectOp>(location, is_upper, of_upper, of_lower);
    };
    // Eights whose numbers differ in this bit: a thread keeps the one that it has the bit of.
    const size_t apart = static_cast<size_t>(distance * kNeighbours);
    Values next(held);
    for (size_t lower = 0; lower < held.size(); ++lower) {
      if (lower / apart % 2 != 0) continue;
      const size_t upper = lower + apart;
      const Value given =
          builder.create<NVVM::ShflOp>(location, held[lower].getType(), make_i32(builder, location, -1),
                                       pick(held[lower], held[upper]), make_i32(builder, location, distance),
                                       make_i32(builder, location, 31), NVVM::ShflKind::bfly, mlir::UnitAttr());
      next[lower] = pick(given, held[lower]);
      next[upper] = pick(held[upper], given);
    }
    held = next;
  }
  return held;
}

}  // namespace baton::compiler_lite::codegen::cuda
