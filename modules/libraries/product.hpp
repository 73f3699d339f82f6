// What a program says of a product: C = A * B for a batch of matrices, by sizes and strides in elements. The numbers come
// from a program, so they are looked at before they are used.
#pragma once

#include <array>
#include <climits>
#include <cstdint>
#include <string>

#include "modules/sdk/module.hpp"

namespace baton::libraries {

// A matrix of a batch: where it begins, and how far its rows and columns are apart.
struct MatrixStrides {
  int64_t outer = 0, inner = 0, row = 0, column = 0;
};

struct Product {
  int64_t outer = 1, inner = 1;  // The batch.
  int64_t rows = 0, columns = 0, steps = 0;
  MatrixStrides a, b, c;

  static constexpr size_t kNumbers = 17;

  // In the order of README.md.
  static sdk::Result<Product> make(const sdk::Variadic<int64_t>& numbers) {
    if (numbers.size() != kNumbers) {
      return sdk::failure(sdk::StatusCode::kInvalidArgument, "A product is told by ", kNumbers, " numbers, not ",
                          numbers.size(), ".");
    }
    std::array<int64_t, kNumbers> all = {};
    for (size_t i = 0; i < kNumbers; ++i) {
      all[i] = numbers[i];
      if (all[i] < 0 || all[i] > INT_MAX) {
        return sdk::failure(sdk::StatusCode::kOutOfRange, "Number ", i, " of a product is ", all[i], "; from 0 to ",
                            INT_MAX, " is possible.");
      }
    }
    const auto strides = [&](size_t at) { return MatrixStrides{all[at], all[at + 1], all[at + 2], all[at + 3]}; };
    return Product{all[0], all[1], all[2], all[3], all[4], strides(5), strides(9), strides(13)};
  }

  // The same C from operands that are zero in one step, for all matrices of the batch.
  Product of_zeros() const {
    Product made = *this;
    made.steps = 1;
    made.a = made.b = {.outer = 0, .inner = 0, .row = 1, .column = 1};
    return made;
  }

  bool empty() const { return outer == 0 || inner == 0 || rows == 0 || columns == 0; }
  int64_t batches() const { return outer * inner; }
  // Where matrix `batch` of an operand begins.
  int64_t begin(const MatrixStrides& of, int64_t batch) const {
    return batch / inner * of.outer + batch % inner * of.inner;
  }

  // Elements that an operand must have; each number is below 2^31, so sums of four products of two fit.
  uint64_t extent(const MatrixStrides& of, int64_t of_rows, int64_t of_columns) const {
    if (empty() || of_rows == 0 || of_columns == 0) return 0;
    const auto reach = [](int64_t size, int64_t stride) {
      return static_cast<uint64_t>(size - 1) * static_cast<uint64_t>(stride);
    };
    return reach(outer, of.outer) + reach(inner, of.inner) + reach(of_rows, of.row) + reach(of_columns, of.column) + 1;
  }
  sdk::Status check(uint64_t a_size, uint64_t b_size, uint64_t c_size) const {
    const uint64_t needs[] = {extent(a, rows, steps), extent(b, steps, columns), extent(c, rows, columns)};
    const uint64_t has[] = {a_size, b_size, c_size};
    for (size_t i = 0; i < 3; ++i) {
      if (needs[i] <= has[i]) continue;
      return sdk::failure(sdk::StatusCode::kOutOfRange, "Operand ", std::string_view("ABC").substr(i, 1),
                          " of a product has ", has[i], " elements; its sizes and strides reach ", needs[i], ".");
    }
    return {};
  }

  std::string describe() const {
    std::string text = batches() == 1 ? "" : std::to_string(batches()) + " x ";
    return text + std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(steps);
  }
};

// A matrix as BLAS knows it: rows one after the other, `leading` elements apart, or columns.
struct BlasMatrix {
  bool transposed = false;
  int64_t leading = 1;
};
inline sdk::Result<BlasMatrix> blas_matrix(const MatrixStrides& of, int64_t rows, int64_t columns) {
  // A stride that no step takes says nothing.
  const bool by_rows = columns <= 1 || of.column == 1, by_columns = rows <= 1 || of.row == 1;
  const int64_t row = rows <= 1 ? columns : of.row, column = columns <= 1 ? rows : of.column;
  if (by_rows && row >= columns) return BlasMatrix{false, row > 1 ? row : 1};
  if (by_columns && column >= rows) return BlasMatrix{true, column > 1 ? column : 1};
  return sdk::failure(sdk::StatusCode::kInvalidArgument, "A matrix of ", rows, " by ", columns, " has its rows ",
                      of.row, " and its columns ", of.column,
                      " elements apart; one of them must be 1 and the other reach past it.");
}

// What follows a product; GELU is that by tanh.
enum class Activation { kNone, kRelu, kGelu };
struct Epilogue {
  bool bias = false;
  Activation activation = Activation::kNone;
};

}  // namespace baton::libraries
