// ThreadCode: what each thread of a block does, written one operation after the other: for kernels that no operation on tensors says.
#pragma once

#include "compiler-lite/codegen/gpu/block.hpp"
#include "llvm/ADT/SmallVector.h"

namespace baton::compiler_lite::codegen::gpu {

// Its methods are words of one language: each writes an operation, and a few a loop or a branch.
class ThreadCode {
 public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;

  // At the end of the kernel.
  ThreadCode(mlir::func::FuncOp kernel, const Features& features);

  Block& block() { return block_; }
  Value thread();
  Value workgroup();
  // A binding as memory of its type, and a constant of the dispatch.
  Value binding(unsigned number);
  Value constant_word(unsigned number);
  // Memory that the block shares.
  Value shared(int64_t count, mlir::Type element);
  void barrier();

  // Places and counts.
  Value index(int64_t number);
  Value add(Value a, Value b);
  Value add(Value a, int64_t b) { return add(a, index(b)); }
  Value subtract(Value a, Value b);
  Value times(Value a, int64_t factor);
  Value quotient(Value a, int64_t by);
  Value remainder(Value a, int64_t by);
  Value is_below(Value a, Value b);
  Value is_below(Value a, int64_t b) { return is_below(a, index(b)); }
  Value is_same(Value a, Value b);
  // `a` below twice `size`: what is left of it behind one `size`.
  Value wrapped(Value a, int64_t size);
  Value at_most(Value a, int64_t most);
  Value to_index(Value number);
  Value to_word(Value number);

  // Numbers.
  Value number(mlir::Type type, double value);
  Value plus(Value a, Value b);
  Value minus(Value a, Value b);
  Value product(Value a, Value b);
  Value over(Value a, Value b);
  Value size(Value a);
  Value root(Value a);
  Value larger(Value a, Value b);
  Value is_larger(Value a, Value b);
  Value is_equal(Value a, Value b);
  // Of words.
  Value is_less(Value a, Value b);
  Value is_not_zero(Value word);
  Value both(Value a, Value b);
  Value either(Value a, Value b);
  Value choose(Value condition, Value a, Value b);
  Value no();
  Value word(int32_t number);
  Value as_word(Value flag);

  Value load(Value memory, mlir::ValueRange place);
  void store(Value value, Value memory, mlir::ValueRange place);

  void when(Value condition, llvm::function_ref<void()> body);
  // One of two values, of which only the one that is asked for is computed.
  Value either_way(Value condition, mlir::Type type, llvm::function_ref<Value()> then,
                   llvm::function_ref<Value()> otherwise);
  void loop(Value begin, Value end, Value step, llvm::function_ref<void(Value)> body);
  Values loop(Value begin, Value end, Value step, mlir::ValueRange carried,
              llvm::function_ref<Values(Value, mlir::ValueRange)> body);
  // Goes on as long as `body`, which gets the number of the turn, gives true and there are turns left.
  void repeat(int64_t turns_max, llvm::function_ref<Value(Value)> body);
  // The numbers below `count` that are this thread's.
  void strided(int64_t count, llvm::function_ref<void(Value)> body);

  // The numbers below `count` that are this thread's: what is read for several of them is on its way at once. `read` may be asked for the
  // last number more than once.
  void move(int64_t count, llvm::function_ref<Value(Value)> read, llvm::function_ref<void(Value, Value)> write);
  // The same of every `step`th number from `begin` on, of which there are about so many.
  void move(Value begin, int64_t end, int64_t step, int64_t about, llvm::function_ref<Value(Value)> read,
            llvm::function_ref<void(Value, Value)> write);

  using Join = llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)>;
  // What `lanes` threads, which follow each other, have of each part, joined; all of these have it. All threads of the block come here;
  // where they don't join in registers, a barrier must stand behind it before they come again.
  bool joins_in_registers(int64_t lanes) const { return block_.features().warp >= lanes; }
  void join_lanes(Values& parts, int64_t lanes, Join join);
  void sum_over_lanes(Values& parts, int64_t lanes);
  Value sum_over_lanes(Value part, int64_t lanes);

 private:
  mlir::func::FuncOp kernel_;
  mlir::OpBuilder builder_;
  mlir::Location location_;
  Block block_;
  llvm::SmallVector<mlir::MemRefType> binding_types_;
};

}  // namespace baton::compiler_lite::codegen::gpu
