// Rows: operations that go along the same rows, which one kernel can do while a row is at hand: softmax, norms.
//
// Such a group has operations over (rows, elements of a row), that reduce the elements or don't, and operations over
// the rows alone; each reads what another one made at its own row. A row's length is known and small enough for all
// that is kept of it between the operations.
#pragma once

#include <optional>

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace baton::compiler_lite::schedule {

class Rows {
 public:
  // The rows that `root` and what it reads may go along.
  static std::optional<Rows> of(mlir::Operation* root);

  // Whether `consumer`, which goes along these rows, can be done together with `producer`, whose result it reads.
  bool join(mlir::Operation* producer, mlir::Operation* consumer) const;
  bool reduces(mlir::Operation* op) const;
  // Whether workgroups with rows of their own have no more to do of `reduction`, a product for one, than is worth it: by itself it
  // is divided among as many as there are.
  bool divide(mlir::Operation* reduction) const;
  // What is kept of a workgroup's rows for the result of `op`.
  int64_t kept_bytes(mlir::Operation* op) const;

 private:
  Rows(unsigned loops, int64_t length) : loops_(loops), length_(length) {}
  bool go_along(mlir::Operation* op) const;
  int64_t workgroup_rows() const;

  unsigned loops_;  // Over rows.
  int64_t length_;
};

// The limit for all that a group keeps: half of a CPU tile's memory, which is what the smallest GPU has.
inline constexpr int64_t kKeptBytesMax = 64 * 1024;

}  // namespace baton::compiler_lite::schedule
