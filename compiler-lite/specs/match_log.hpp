// What matchers saw while a spec ran, so that a spec that never matches can say what came closest.
#pragma once

#include <memory>
#include <optional>

#include "compiler-lite/specs/dag_matcher.hpp"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"

namespace baton::compiler_lite::specs {

// One pattern of a spec: a matcher operation of a transform spec, or a pdl.pattern.
struct PatternRecord {
  mlir::Location where;
  std::string root;  // the name of the operation that a match ends in
  size_t matches = 0;
  size_t candidates = 0;  // operations of that name that were looked at and didn't match
  std::optional<mlir::Location> closest_root;
  std::optional<Difference> closest;
};

class MatchLog {
 public:
  // Forgets everything. When verbose, each candidate is reported as a remark while it is looked at.
  void begin(bool verbose);
  // A pattern that is there, whether or not anything will be compared with it.
  void declare(const void* pattern, mlir::Location where, llvm::StringRef root);
  void matched(const void* pattern, mlir::Location root);
  void missed(const void* pattern, mlir::Operation* root, const Difference& difference);

  // A warning when patterns were declared and none of them matched; when verbose, a remark for each that did not.
  void report(llvm::StringRef file) const;

 private:
  PatternRecord* find(const void* pattern);

  llvm::SmallVector<std::pair<const void*, PatternRecord>> records_;  // in the order of the spec
  bool verbose_ = false;
};

// Where matchers of the transform dialect find the log: one in each context.
class MatchLogPlace : public mlir::transform::TransformDialectData<MatchLogPlace> {
 public:
  explicit MatchLogPlace(mlir::MLIRContext* context)
      : TransformDialectData(context), log_(std::make_unique<MatchLog>()) {}
  static MatchLog& log(mlir::MLIRContext* context) {
    return *context->getLoadedDialect<mlir::transform::TransformDialect>()->getExtraData<MatchLogPlace>().log_;
  }

 private:
  std::unique_ptr<MatchLog> log_;
};

}  // namespace baton::compiler_lite::specs

MLIR_DECLARE_EXPLICIT_TYPE_ID(baton::compiler_lite::specs::MatchLogPlace)
