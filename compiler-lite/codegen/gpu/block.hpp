// Block: the threads of a workgroup, as code in a kernel sees them.
#pragma once

#include <optional>

#include "compiler-lite/codegen/gpu/features.hpp"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace baton::compiler_lite::codegen::gpu {

inline constexpr int64_t kWarp = 32;
// Threads of a workgroup whose kernel doesn't say how many it wants.
inline constexpr int64_t kBlockThreads = 256;

// An attribute of kernels: how many blocks a multiprocessor should have room for.
inline constexpr llvm::StringLiteral kBlocksWanted = "baton.blocks_wanted";
// An attribute of kernels: how many blocks are a cluster.
inline constexpr llvm::StringLiteral kClusterBlocks = "baton.cluster_blocks";

class Block {
 public:
  // Reads `workgroup_size` of the kernel; sets it where there is none.
  Block(mlir::func::FuncOp kernel, const Features& features);

  int64_t threads() const { return sizes_[0] * sizes_[1] * sizes_[2]; }
  const Features& features() const { return features_; }

  // How many blocks there are; nothing where only the call knows.
  std::optional<int64_t> count() const;

  // Whether so much shared memory may be taken for speed alone: a quarter is left for what can't do without.
  bool spend(int64_t bytes);

  // Shared memory of this type that parts of the kernel use in turn, made once at its beginning; `which` is the number of
  // one among several that a part uses at once. They leave it behind a barrier.
  mlir::Value shared(mlir::MemRefType type, unsigned which);

  // Asks for registers few enough that two blocks find room on a multiprocessor.
  void want_two();

  // The thread's number in the block, made once at the kernel's beginning.
  mlir::Value thread();
  // All threads wait for each other, and see what the others have written.
  static void barrier(mlir::OpBuilder& builder, mlir::Location location);

  // Code for only the first thread.
  void by_one(mlir::OpBuilder& builder, mlir::Location location, llvm::function_ref<void(mlir::OpBuilder&)> body);
  // for (i = thread; i < count; i += threads)
  void strided(mlir::OpBuilder& builder, mlir::Location location, mlir::Value count,
               llvm::function_ref<void(mlir::OpBuilder&, mlir::Value)> body);

 private:
  mlir::func::FuncOp kernel_;
  Features features_;
  int64_t sizes_[3] = {1, 1, 1};
  int64_t spent_ = 0;
  mlir::Value thread_;
  llvm::SmallVector<std::pair<unsigned, mlir::Value>> shared_;
};

}  // namespace baton::compiler_lite::codegen::gpu
