// Finds the expression of a spec in a program. A block of the spec is the pattern: its arguments are the inputs, its
// last operation is the root. Shapes may be more static in the program than in the pattern.
#pragma once

#include <optional>
#include <string>

#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Operation.h"

namespace baton::compiler_lite::specs {

// Why an operation of the program is not what the spec describes; the first reason found.
struct Difference {
  mlir::Location spec;     // what the spec has
  mlir::Location program;  // what the program has there
  std::string what;        // a sentence
  size_t agreed = 0;       // operations that were equal before: the more, the closer
};

// On an operation of the pattern: only its name is compared, and its operands aren't looked at.
inline constexpr llvm::StringLiteral kNameOnly = "match.operation_name_only";

// Whether tensor.cast makes `type` a `wanted` that knows no more about the shape; other types must be equal.
bool casts_to(mlir::Type type, mlir::Type wanted);

class DagMatcher {
 public:
  explicit DagMatcher(mlir::Block& pattern) : pattern_(pattern) {}

  // Whether the expression ends in `root`. Once for each matcher.
  bool match(mlir::Operation* root);
  // Whether the regions of `program` are those of `spec`; for operations, not for expressions.
  bool match_regions(mlir::Operation* spec, mlir::Operation* program);

  // After a match: what the pattern's arguments stand for.
  llvm::SmallVector<mlir::Value> inputs() const;
  // After a failure.
  const Difference& difference() const { return *difference_; }

 private:
  bool drain();
  bool same_operation(mlir::Operation* spec, mlir::Operation* program);
  bool same_counts(mlir::Operation* spec, mlir::Operation* program);
  bool same_attributes(mlir::Operation* spec, mlir::Operation* program);
  bool same_types(mlir::Operation* spec, mlir::Operation* program);
  bool same_operands(mlir::Operation* spec, mlir::Operation* program);
  bool same_regions(mlir::Operation* spec, mlir::Operation* program);
  bool same_block(mlir::Block& spec, mlir::Block& program, mlir::Operation* spec_parent,
                  mlir::Operation* program_parent);
  bool same_inner(mlir::Operation* spec, mlir::Operation* program);
  bool same_value(mlir::Value spec, mlir::Value program, mlir::Operation* spec_user, mlir::Operation* program_user,
                  unsigned operand);
  bool follow(mlir::Operation* spec, mlir::Operation* program);
  bool differs(mlir::Operation* spec, mlir::Operation* program, std::string what);

  mlir::Block& pattern_;
  llvm::DenseMap<mlir::Value, mlir::Value> values_;         // spec -> program
  llvm::DenseMap<mlir::Operation*, mlir::Operation*> ops_;  // spec -> program, followed so far
  llvm::DenseMap<mlir::Block*, mlir::Block*> blocks_;       // spec -> program, inside regions
  llvm::SmallVector<std::pair<mlir::Operation*, mlir::Operation*>> work_;
  std::optional<Difference> difference_;
  size_t agreed_ = 0;
};

}  // namespace baton::compiler_lite::specs
