// AttentionParts: what code for attention on memrefs is written of, however workgroups go about it: where rows of Q, K and V
// lie, scores as the program makes numbers of them, results as it goes on with them.
#pragma once

#include <limits>

#include "compiler-lite/codegen/attention.hpp"
#include "compiler-lite/codegen/attention_mask.hpp"
#include "compiler-lite/codegen/cuda/wide_body.hpp"
#include "compiler-lite/codegen/gpu/accesses.hpp"
#include "compiler-lite/codegen/gpu/block.hpp"
#include "compiler-lite/codegen/gpu/combine.hpp"
#include "compiler-lite/codegen/gpu/tile_writer.hpp"
#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace baton::compiler_lite::codegen::cuda {

inline constexpr int64_t kGroupBytes = 16;
inline constexpr double kLog2OfE = 1.4426950408889634;
// Elements of a row of Q, K or V: more have no room in registers.
inline constexpr int64_t kAttentionSizeMax = 128;

// Its many methods are one vocabulary: whoever writes such code says all of it in these words, over the same builder and sizes.
class AttentionParts : protected gpu::TileWriter {
 protected:
  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;
  using Values = gpu::Values;

  AttentionParts(mlir::OpBuilder& builder, mlir::Location location, const Attention& attention, gpu::Block& block)
      : TileWriter(builder, location),
        attention_(attention),
        mask_(AttentionMask::find(attention)),
        block_(block),
        features_(block.features()) {
    element_ = mlir::getElementTypeOrSelf(attention.scores->getOperand(attention.q).getType());
    f32_ = builder.getF32Type();
    element_bytes_ = gpu::stored_bytes(element_);
    group_ = kGroupBytes / element_bytes_;
    is_half_ = element_.isF16() || element_.isBF16();
    lane_ = remainder(block_.thread(), gpu::kWarp);
    warp_ = quotient(block_.thread(), gpu::kWarp);
  }

  // Rows of Q, K or V: where the workgroup's begin, and how far one is from the next.
  struct Rows {
    gpu::Memory memory;
    Value offset, row_stride, stride;  // Elements; of the next element of a row.
    Value count;
    int64_t size;      // Elements of a row.
    Value is_aligned;  // Its groups of 16 bytes lie at multiples of that.
  };
  Value number(double value) {
    return builder_.create<mlir::arith::ConstantOp>(location_, builder_.getFloatAttr(f32_, value));
  }
  Value infinity() {
    const auto least = llvm::APFloat::getInf(llvm::APFloat::IEEEsingle(), /*Negative=*/true);
    return builder_.create<mlir::arith::ConstantOp>(location_, builder_.getFloatAttr(f32_, least));
  }
  Value select(Value choice, Value a, Value b) {
    return builder_.create<mlir::arith::SelectOp>(location_, choice, a, b);
  }
  Value least(Value a, Value b) { return builder_.createOrFold<mlir::arith::MinUIOp>(location_, a, b); }
  Value multiple(Value a, Value b) { return builder_.create<mlir::arith::MulFOp>(location_, a, b); }
  Value minus(Value a, Value b) { return builder_.create<mlir::arith::SubFOp>(location_, a, b); }
  Value sum_of(Value a, Value b) { return builder_.create<mlir::arith::AddFOp>(location_, a, b); }
  Value as_i64(Value value) { return cast(builder_, location_, value, builder_.getI64Type()); }
  Value product_of(Value a, Value b) { return builder_.create<mlir::LLVM::MulOp>(location_, a, b); }
  Value plus(Value a, Value b) { return builder_.create<mlir::LLVM::AddOp>(location_, a, b); }
  Value byte_address(Value pointer, Value offset) {
    return builder_.create<mlir::LLVM::GEPOp>(location_, pointer.getType(), builder_.getI8Type(), pointer,
                                              ValueRange{as_i64(offset)});
  }

  // Of the scores' dimensions, by the operands that have them.
  void read_sizes() {
    sizes_.resize(attention_.rank);
    for (const unsigned operand : {attention_.q, attention_.k}) {
      const auto of = attention_.dimensions_of(attention_.scores, attention_.scores.getIndexingMapsArray()[operand]);
      for (unsigned d = 0; d < of.size(); ++d) {
        if (of[d] < attention_.rank && !sizes_[of[d]])
          sizes_[of[d]] = size_of(attention_.scores->getOperand(operand), d);
      }
    }
  }

  Value last_of(unsigned dimension) {
    return builder_.create<mlir::arith::SubIOp>(location_, sizes_[dimension], index(1));
  }

  // Where the workgroup is in the dimensions that are neither row nor key.
  void place_batches(Value number) {
    at_.resize(attention_.rank);
    for (unsigned d = attention_.rank; d-- > 0;) {
      if (d == attention_.row || d == attention_.key) continue;
      at_[d] = builder_.createOrFold<mlir::arith::RemUIOp>(location_, number, sizes_[d]);
      number = builder_.createOrFold<mlir::arith::DivUIOp>(location_, number, sizes_[d]);
    }
  }

  Rows open(mlir::linalg::LinalgOp product, unsigned operand, unsigned row, int64_t size) {
    const Value matrix = product->getOperand(operand);
    Rows rows{gpu::open_memory(builder_, location_, matrix), make_i64(builder_, location_, 0), {}, {}, {}, size, {}};
    const auto of = attention_.dimensions_of(product, product.getIndexingMapsArray()[operand]);
    Value bits = builder_.create<mlir::LLVM::PtrToIntOp>(location_, builder_.getI64Type(), rows.memory.base);
    unsigned along = 0;
    for (unsigned d = 0; d < of.size(); ++d) {
      const Value stride = rows.memory.strides[d];
      if (of[d] == attention_.rank) {
        rows.stride = stride;
        along = d;
        continue;
      }
      bits = builder_.create<mlir::LLVM::OrOp>(location_, bits,
                                               product_of(stride, make_i64(builder_, location_, element_bytes_)));
      if (of[d] == row && row < attention_.rank) {
        rows.row_stride = stride;
        rows.count = sizes_[row];
      } else {
        rows.offset = plus(rows.offset, product_of(as_i64(at_[of[d]]), stride));
      }
    }
    const Value low =
        builder_.create<mlir::LLVM::AndOp>(location_, bits, make_i64(builder_, location_, kGroupBytes - 1));
    rows.is_aligned = compare(mlir::arith::CmpIPredicate::eq, low, make_i64(builder_, location_, 0));
    llvm::SmallVector<int64_t> strides;
    int64_t offset = 0;
    const bool is_known = mlir::succeeded(mlir::getStridesAndOffset(gpu::type_of(matrix), strides, offset));
    if (!is_known || strides[along] != 1 || size % group_ != 0) {
      rows.is_aligned = builder_.create<mlir::arith::ConstantIntOp>(location_, 0, 1);
    }
    if (!rows.row_stride) {  // A single one.
      rows.row_stride = make_i64(builder_, location_, 0);
      rows.count = index(1);
    }
    return rows;
  }

  Value address(const Rows& rows, Value row, Value element) {
    const Value in_row = product_of(as_i64(element), rows.stride);
    const Value offset = plus(rows.offset, plus(product_of(as_i64(row), rows.row_stride), in_row));
    return builder_.create<mlir::LLVM::GEPOp>(location_, rows.memory.base.getType(), gpu::stored_type(element_),
                                              rows.memory.base, ValueRange{offset});
  }

  // Loads what the mask reads and what is the same for all scores.
  void load_fixed() {
    if (!mask_) return;
    mlir::linalg::GenericOp masked = attention_.masked;
    Values point = at_;
    if (attention_.row != Attention::kNoRow) point[attention_.row] = index(0);
    point[attention_.key] = index(0);
    for (mlir::OpOperand& operand : masked->getOpOperands()) {
      fixed_.push_back(mask_->is_fixed(operand) ? gpu::load(builder_, masked, operand, point) : Value());
    }
  }
  // Asks the mask about `row_count` rows from `row` and `key_count` keys from `key`.
  AttentionMask::Answer ask(Value row, int64_t row_count, Value key, int64_t key_count) {
    const auto range = [&](Value first, int64_t count, unsigned dimension) {
      return AttentionMask::Range{least(first, last_of(dimension)), least(add(first, count - 1), last_of(dimension))};
    };
    const bool has_row = attention_.row != Attention::kNoRow;
    const AttentionMask::Range rows = has_row ? range(row, row_count, attention_.row) : AttentionMask::Range();
    return mask_->ask(builder_, location_, rows, range(key, key_count, attention_.key), at_, fixed_);
  }
  // Whether what stands for a masked score is nothing beside such a score. `unit`: in how many parts scores are counted of
  // what the program counts them in.
  Value is_far_above_nothing(Value score, double unit) {
    constexpr double kFarBelow = 160;  // Neither exp(-160) nor 2 to this power is anything in f32.
    const double nothing = std::max<double>(mask_->nothing() * unit, -std::numeric_limits<float>::max());
    return builder_.create<mlir::arith::CmpFOp>(location_, mlir::arith::CmpFPredicate::OGT, score,
                                                number(nothing + kFarBelow));
  }
  // Whether it holds for one thread of the workgroup at least; all wait for each other.
  Value holds_for_any_thread(Value condition) {
    const Value word = builder_.create<mlir::arith::ExtUIOp>(location_, builder_.getI32Type(), condition);
    auto any = builder_.create<mlir::LLVM::CallIntrinsicOp>(location_, builder_.getI32Type(), "llvm.nvvm.barrier0.or",
                                                            ValueRange{word});
    return compare(mlir::arith::CmpIPredicate::ne, any->getResult(0), make_i32(builder_, location_, 0));
  }
  Value truth(bool value) { return builder_.create<mlir::arith::ConstantIntOp>(location_, value, 1); }

  // The score's value in the program, in f32. `counts`: the mask, if there is one, is known to let it count.
  Value compute_masked(Value score, Value row, Value key, bool counts = false) {
    mlir::linalg::GenericOp op = attention_.masked;
    Values point = at_;
    // What is beyond the last one is computed, and not used; it isn't read.
    if (attention_.row != Attention::kNoRow) point[attention_.row] = least(row, last_of(attention_.row));
    point[attention_.key] = least(key, last_of(attention_.key));
    Values operands;
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      const mlir::Type type = mlir::getElementTypeOrSelf(operand.get().getType());
      if (operand.get() == attention_.scores.getDpsInits()[0]) {
        operands.push_back(is_half_ ? score : convert_element(builder_, location_, score, type, false));
      } else if (!op.payloadUsesValueFromOperand(&operand)) {
        operands.push_back(builder_.create<mlir::arith::ConstantOp>(location_, type, builder_.getZeroAttr(type)));
      } else {
        operands.push_back(gpu::load(builder_, op, operand, point));
      }
    }
    if (is_half_) return compute_wide(builder_, op, point, operands, counts && mask_ ? &*mask_ : nullptr);
    return convert_element(builder_, location_, gpu::compute(builder_, op, point, operands)[0], f32_, false);
  }

  Value power(Value value) {
    if (!is_half_) return builder_.create<mlir::math::ExpOp>(location_, value);
    return power_of_two(multiple(value, number(kLog2OfE)));
  }
  // Good to more digits than a half has.
  Value power_of_two(Value value) {
    auto call =
        builder_.create<mlir::LLVM::CallIntrinsicOp>(location_, f32_, "llvm.nvvm.ex2.approx.ftz.f", ValueRange{value});
    return call->getResult(0);
  }

  Value from_lane(Value value, int64_t distance) { return gpu::shuffle(builder_, location_, value, distance); }

  // Where an element of `mixed` is in its dimensions.
  Values indices_of_mixed(Value row, Value column) {
    Values indices;
    for (const unsigned d : attention_.dimensions_of(attention_.mixed, attention_.mixed.getIndexingMapsArray()[2])) {
      indices.push_back(d == attention_.rank ? column : d == attention_.row ? row : at_[d]);
    }
    return indices;
  }

  void store_mixed(Value row, Value column, Value value) {
    const Value memory = attention_.mixed.getDpsInits()[0];
    const mlir::Type type = mlir::getElementTypeOrSelf(memory.getType());
    builder_.create<mlir::memref::StoreOp>(location_, convert_element(builder_, location_, value, type, false), memory,
                                           indices_of_mixed(row, column));
  }

  void store_last(Value row, Value column, Value value) {
    mlir::linalg::GenericOp op = attention_.last;
    const Value mixed = attention_.mixed.getDpsInits()[0];
    const Values indices = indices_of_mixed(row, column);
    Values point(op.getNumLoops()), operands;
    for (mlir::OpOperand* operand : op.getDpsInputOperands()) {
      if (operand->get() != mixed) continue;
      const mlir::AffineMap map = op.getMatchingIndexingMap(operand);
      for (unsigned i = 0; i < map.getNumResults(); ++i) point[map.getDimPosition(i)] = indices[i];
    }
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      const mlir::Type type = mlir::getElementTypeOrSelf(operand.get().getType());
      if (operand.get() == mixed) {
        operands.push_back(convert_element(builder_, location_, value, type, false));
      } else if (!op.payloadUsesValueFromOperand(&operand)) {
        operands.push_back(builder_.create<mlir::arith::ConstantOp>(location_, type, builder_.getZeroAttr(type)));
      } else {
        operands.push_back(gpu::load(builder_, op, operand, point));
      }
    }
    gpu::store(builder_, op, point, gpu::compute(builder_, op, point, operands));
  }

  Attention attention_;
  std::optional<AttentionMask> mask_;
  gpu::Block& block_;
  const gpu::Features& features_;
  mlir::Type element_, f32_;
  bool is_half_;
  int64_t element_bytes_, group_;  // Elements of 16 bytes.
  Values fixed_;                   // For each operand of the mask, what is the same for all scores.
  Values sizes_, at_;  // Of the scores' dimensions; where the workgroup is in those that are neither row nor key.
  Value lane_, warp_;
};

}  // namespace baton::compiler_lite::codegen::cuda
