// GroupedRows: where rows of A lie whose groups don't follow each other at one stride (Product::row_groups), as those of an image
// do under the windows of a convolution.
#pragma once

#include "compiler-lite/codegen/gpu/tile_writer.hpp"
#include "compiler-lite/codegen/product.hpp"

namespace baton::compiler_lite::codegen::gpu {

class GroupedRows : TileWriter {
 public:
  GroupedRows(mlir::OpBuilder& builder, mlir::Location location, const Product& product);

  // Elements, as an i64, from where a row would be if all followed each other to where it is; null where they do.
  mlir::Value beyond(mlir::Value row);
  // Bits that are set where groups, of elements of so many bytes, begin at what is no multiple of `bytes`, a power of two.
  mlir::Value unaligned_bits(int64_t element_bytes, int64_t bytes);

 private:
  // Groups but the first: rows before the next one, how many there are, and how much further the next one is.
  struct Group {
    int64_t rows, count;
    mlir::Value further;
  };
  llvm::SmallVector<Group> groups_;
  llvm::SmallVector<mlir::Value> strides_;
};

}  // namespace baton::compiler_lite::codegen::gpu
