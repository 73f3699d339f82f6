// How threads that reduce together join what each has: through shuffles, then through shared memory; or through that
// alone.
#pragma once

#include "compiler-lite/codegen/combiners.hpp"
#include "compiler-lite/codegen/gpu/loop_body.hpp"

namespace baton::compiler_lite::codegen::gpu {

// How two partial results become one; where several results belong together, all of them at once.
class Joiner {
 public:
  virtual ~Joiner() = default;
  // What changes nothing.
  virtual Values neutral(mlir::OpBuilder& builder, mlir::Location location) const = 0;
  virtual Values join(mlir::OpBuilder& builder, mlir::ValueRange a, mlir::ValueRange b) const = 0;
};

// By an operation for each result.
class CombinerJoiner final : public Joiner {
 public:
  explicit CombinerJoiner(llvm::ArrayRef<mlir::Operation*> combiners) : combiners_(combiners) {}
  Values neutral(mlir::OpBuilder& builder, mlir::Location location) const override;
  Values join(mlir::OpBuilder& builder, mlir::ValueRange a, mlir::ValueRange b) const override;

 private:
  llvm::ArrayRef<mlir::Operation*> combiners_;
};

// What the lane of the warp `distance` away (by exclusive or) holds.
mlir::Value shuffle(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value, int64_t distance);

// Joins the parts of `group` threads, of which `lane` is this one's number: a thread alone, a warp of so many threads, or a whole
// block of whole warps, all of which come here. All of them have the result.
// Without warps (0) a group of several is the block.
void join(mlir::OpBuilder& builder, mlir::Location location, const Joiner& joiner, Values& parts, mlir::Value lane,
          int64_t group, int64_t warp);

}  // namespace baton::compiler_lite::codegen::gpu
