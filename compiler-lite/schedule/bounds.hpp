// Bounds: comparisons of sizes and indices on the host, and the call that fails where one doesn't hold.
//
// A comparison of constants that holds leaves no code, one that was made before in this block or in the function's
// first block isn't made again. The rest is a compare and a branch around hal.bounds.fail, which says the sentence with
// both values.
#pragma once

#include <string>

#include "compiler-lite/dialects/hal_calls.hpp"
#include "llvm/ADT/DenseSet.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::schedule {

class Bounds {
 public:
  Bounds(mlir::OpBuilder& builder, HalCalls& hal) : builder_(builder), hal_(hal) {}

  // In the sentences $0 is `a` and $1 is `b`. Sizes that differ are an invalid argument, all else is out of range.
  void equal(mlir::Location location, mlir::OpFoldResult a, mlir::OpFoldResult b, const llvm::Twine& sentence);
  // 0 <= a < b, and 0 <= a <= b. `unless`: where it holds nothing is wrong; may be null.
  void below(mlir::Location location, mlir::OpFoldResult a, mlir::OpFoldResult b, const llvm::Twine& sentence,
             mlir::Value unless = {});
  void at_most(mlir::Location location, mlir::OpFoldResult a, mlir::OpFoldResult b, const llvm::Twine& sentence,
               mlir::Value unless = {});
  // Any condition on values that `first` and `second` stand for.
  enum class Fault { kInvalidArgument = 3, kOutOfRange = 11 };  // base/status.hpp
  void require(mlir::Location location, mlir::Value holds, Fault fault, const llvm::Twine& sentence,
               mlir::OpFoldResult first, mlir::OpFoldResult second);

 private:
  using Predicate = mlir::arith::CmpIPredicate;
  void compare(mlir::Location location, Predicate predicate, mlir::OpFoldResult a, mlir::OpFoldResult b,
               const llvm::Twine& sentence, mlir::Value unless);
  bool is_known(Predicate predicate, mlir::OpFoldResult a, mlir::OpFoldResult b);

  using Comparison = std::tuple<mlir::Block*, unsigned, void*, void*>;
  mlir::OpBuilder& builder_;
  HalCalls& hal_;
  llvm::DenseSet<Comparison> made_;
};

// Whether sizes, none of them negative, multiply to `whole`: compared as floats, which don't wrap round and are exact
// as far as memory reaches.
mlir::Value is_product(mlir::OpBuilder& builder, mlir::Location location, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                       mlir::OpFoldResult whole);
// The product as a float; negative sizes make it larger than any memory.
mlir::Value float_product(mlir::OpBuilder& builder, mlir::Location location, llvm::ArrayRef<mlir::OpFoldResult> sizes);

}  // namespace baton::compiler_lite::schedule
