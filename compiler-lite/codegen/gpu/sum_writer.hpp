// SumWriter: what becomes of a product's sums, which threads have in registers. They are written to C, or added to what it
// holds; or an operation goes over them element by element on the way (`Product::last`), with whatever else it reads.
#pragma once

#include <optional>

#include "compiler-lite/codegen/gpu/vectors.hpp"
#include "compiler-lite/codegen/product.hpp"

namespace baton::compiler_lite::codegen::gpu {

class SumWriter {
 public:
  // For threads that have `count` neighbours of a row. `from_zero`: C holds nothing that counts.
  SumWriter(mlir::OpBuilder& builder, mlir::Location location, const Product& product, bool from_zero, int64_t count);

  // How many are written at once where `is_aligned`: all neighbours or one.
  int64_t at_once() const { return at_once_; }
  mlir::Value is_aligned() const { return is_aligned_; }
  // `at_once` or one of them, the first one's row and column.
  void write(mlir::OpBuilder& builder, mlir::Value row, mlir::Value column, mlir::ValueRange sums);

 private:
  void open_last(mlir::OpBuilder& builder, int64_t count);
  void write_plain(mlir::OpBuilder& builder, mlir::Value row, mlir::Value column, mlir::ValueRange sums);
  Values point_of_last(mlir::OpBuilder& builder, mlir::Value row, mlir::Value column) const;

  const Product& product_;
  mlir::Location location_;
  bool from_zero_;
  int64_t at_once_ = 1;
  mlir::Value is_aligned_;
  Memory c_;
  std::optional<Vectors> vectors_;  // Of the last operation, along the columns.
};

}  // namespace baton::compiler_lite::codegen::gpu
