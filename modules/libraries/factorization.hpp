// What programs say of matrices that a library factorizes.
#pragma once

#include <climits>
#include <cstdint>

#include "modules/sdk/module.hpp"

namespace baton::libraries {

// Of a batch of matrices.
struct Matrices {
  int64_t batch, rows, columns;

  sdk::Status check() const {
    for (const int64_t size : {batch, rows, columns}) {
      if (size >= 0 && size <= INT_MAX) continue;
      return sdk::failure(sdk::StatusCode::kOutOfRange, "A batch of matrices has a size of ", size, "; from 0 to ",
                          INT_MAX, " is possible.");
    }
    return {};
  }
  int64_t least() const { return rows < columns ? rows : columns; }
  bool empty() const { return batch == 0 || rows == 0 || columns == 0; }
};

// Elements of one matrix or vector of each of the batch, in a binding of `size` elements.
inline sdk::Status check_elements(const char* what, int64_t batch, int64_t rows, int64_t columns, uint64_t size) {
  uint64_t all = 0;
  const bool fits = !__builtin_mul_overflow(static_cast<uint64_t>(batch), static_cast<uint64_t>(rows), &all) &&
                    !__builtin_mul_overflow(all, static_cast<uint64_t>(columns), &all) && all <= size;
  if (fits) return {};
  return sdk::failure(sdk::StatusCode::kOutOfRange, what, " has ", size, " elements, and ", batch, " times ", rows,
                      " by ", columns, " are asked for.");
}

// The letter that a program tells by its code.
inline sdk::Result<char> letter_of(const char* what, int64_t code, const char* allowed) {
  for (const char* each = allowed; *each; ++each) {
    if (code == *each) return *each;
  }
  return sdk::failure(sdk::StatusCode::kInvalidArgument, what, " is ", code, "; it is one of the letters ", allowed,
                      ".");
}

inline sdk::Status check_square(const char* routine, const Matrices& of) {
  if (of.rows == of.columns) return {};
  return sdk::failure(sdk::StatusCode::kInvalidArgument, routine, " has a matrix of ", of.rows, " by ", of.columns,
                      "; it takes squares.");
}

// For Householder's reflections, `count` of them.
inline sdk::Status check_reflections(const char* routine, const Matrices& of, int64_t count) {
  if (of.rows >= of.columns && count >= 0 && count <= of.columns) return {};
  return sdk::failure(sdk::StatusCode::kInvalidArgument, routine, " has ", of.rows, " by ", of.columns,
                      " elements and ", count,
                      " reflectors; it takes as many rows as columns or more, and columns as reflectors or more.");
}

}  // namespace baton::libraries
