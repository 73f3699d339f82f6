// RowsOfSums: how a product's sums get from tensor cores to memory. Four threads that follow each other have two neighbours each of every
// eight elements in a row of C, and the same eight rows below. Written as they are, results of two bytes would fill half of the 32 bytes
// that memory takes at once: short sums are exchanged first, so that each thread has eight neighbours.
#pragma once

#include "compiler-lite/codegen/gpu/sum_writer.hpp"
#include "compiler-lite/codegen/gpu/tile_writer.hpp"

namespace baton::compiler_lite::codegen::cuda {

class RowsOfSums : gpu::TileWriter {
 public:
  // Of a warp, which has so many rows and columns of C: multiples of 16 and of 8. `from_zero`: C holds nothing that counts.
  RowsOfSums(mlir::OpBuilder& builder, mlir::Location location, const Product& product, bool from_zero, int64_t rows,
             int64_t columns);

  struct Place {
    mlir::Value lane;           // The thread's place in its warp.
    mlir::Value row, column;    // Of the warp's first sum.
    mlir::Value height, width;  // Of C.
  };
  // `is_inside`: no edge of C goes through what the block has. Sums of each 16 rows follow each other, in these of each eight
  // columns: two neighbours, and two below.
  void store(const Place& place, mlir::Value is_inside, mlir::ValueRange sums);

 private:
  gpu::Values store_each(const Place& place, mlir::ValueRange sums, int64_t count, bool checked);
  gpu::Values store_exchanged(const Place& place, mlir::ValueRange sums);
  gpu::Values exchange(mlir::Value lane, gpu::Values held);
  // Those of the i-th 16 rows and the j-th eight columns, in the upper rows (0) or below (1).
  mlir::ValueRange neighbours(mlir::ValueRange sums, int64_t i, int64_t j, int64_t below) const;
  mlir::Value row_of(const Place& place, int64_t i, int64_t below);

  int64_t rows_, columns_;
  gpu::SumWriter writer_;
};

}  // namespace baton::compiler_lite::codegen::cuda
