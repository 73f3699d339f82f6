// SliceSteps: the slices in which a product's steps are taken, turn after turn (Product::turns). The first turn is the slowest.
#pragma once

#include "compiler-lite/codegen/gpu/tile_writer.hpp"
#include "compiler-lite/codegen/product.hpp"

namespace baton::compiler_lite::codegen::gpu {

class SliceSteps : TileWriter {
 public:
  // `steps` of each turn, in slices of `depth` of them.
  SliceSteps(mlir::OpBuilder& builder, mlir::Location location, const Product& product, mlir::Value steps,
             int64_t depth);

  // Steps of all turns, as far as one knows; very many if not.
  static int64_t steps_of(const Product& product);

  mlir::Value count() const { return count_; }

  struct Slice {
    mlir::Value k0;          // Its first step in its turn.
    mlir::Value offsets[2];  // Elements from A's and B's first turn to its own.
  };
  // One beyond the last is beyond the steps, or the first.
  Slice at(mlir::Value number);

  // Bits that are set where turns move A (0) or B (1), of elements of so many bytes, by what is no multiple of `bytes`, a
  // power of two.
  mlir::Value unaligned_bits(unsigned matrix, int64_t element_bytes, int64_t bytes);

 private:
  const Product& product_;
  int64_t depth_;
  mlir::Value of_turn_, count_;
};

}  // namespace baton::compiler_lite::codegen::gpu
